import type { INodePropertyOptions } from 'n8n-workflow';

import { resources } from '../../nodes/CrmPlatform/resources';
import { change } from '../../nodes/CrmPlatform/resources/change';
import { changeProperties } from '../../nodes/CrmPlatform/trigger/changes/pollProperties';

/** What the code decides about each resource and operation beside its own file: who adds one, decides it here. */
const valuesOf = (options: unknown): string[] => (options as INodePropertyOptions[]).map(({ value }) => String(value)).sort();
const writable = resources.filter(({ operations }) => operations.some(({ option }) => option.value === 'update')).map(({ value }) => value);
const listable = resources.filter(({ operations }) => operations.some(({ option }) => option.value === 'getMany')).map(({ value }) => value);

test('a resource is undone, or is named here as one that is not', () => {
	const undone = valuesOf(change.operations[0]!.options!.find(({ name }) => name === 'kinds')!.options);
	const notUndone = ['customField', 'customObject', 'message', 'pipeline', 'tag', 'user', 'webhook'];
	expect([...undone, ...notUndone].sort()).toEqual(writable.sort());
});

test('the Poll Trigger offers every resource with a list, except those named here', () => {
	const offered = valuesOf(changeProperties.find(({ name }) => name === 'resource')!.options);
	expect([...offered, 'event', 'job', 'webhook', 'webhookDelivery'].sort()).toEqual(listable.sort());
});

test('each step says whether it leaves the CRM; an operation that does not say it is named here, and no step of CRM Platform Tools', () => {
	// Send is that of API Request; a message says what its own is.
	const general = ['create', 'update', 'upsert', 'delete', 'get', 'getMany', 'getCurrent', 'addTag', 'removeTag', 'exportFile', 'importFile', 'undo', 'sendAndWait', 'send'];
	const silent = new Set(resources.flatMap(({ operations }) => operations.filter((operation) => operation.leavesTheCrm === undefined).map(({ option }) => String(option.value))));
	expect([...silent].sort()).toEqual(general.sort());
});
