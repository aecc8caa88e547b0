import type { INodePropertyOptions } from 'n8n-workflow';

import type { Resource } from '../../nodes/CrmPlatform/model';
import { resourceNamed, resources } from '../../nodes/CrmPlatform/resources';
import { pollProperties } from '../../nodes/CrmPlatform/trigger/poll/pollSettings';

const valuesOf = (options: unknown): string[] => (options as INodePropertyOptions[]).map(({ value }) => String(value)).sort();
const valuesWhere = (isIncluded: (resource: Resource) => boolean): string[] =>
	resources
		.filter(isIncluded)
		.map(({ value }) => value)
		.sort();
const offers =
	(operation: string) =>
	({ operations }: Resource): boolean =>
		operations.some(({ option }) => option.value === operation);

test('Undo offers the resources that declare it, each of which can be updated', () => {
	const offered = valuesOf(resourceNamed('change')!.operations[0]!.options!.find(({ name }) => name === 'kinds')!.options);
	expect(offered).toEqual(valuesWhere(({ isEveryday }) => isEveryday === true));
	expect(valuesWhere(offers('update'))).toEqual(expect.arrayContaining(offered));
});

test('the Poll Trigger offers the resources that declare it, each of which can be listed', () => {
	const offered = valuesOf(pollProperties.find(({ name }) => name === 'resource')!.options);
	expect(offered).toEqual(valuesWhere(({ isPolled }) => isPolled));
	expect(valuesWhere(offers('getMany'))).toEqual(expect.arrayContaining(offered));
});

test('each action declares whether it sends something out of the CRM; the others are not actions of CRM Platform AI Toolkit', () => {
	// `send` is the operation of API Request: the one of messages declares that it leaves the CRM.
	const general = [
		'create', 'update', 'upsert', 'delete', 'get', 'getMany', 'getCurrent', 'getTimeline', 'count', 'addTag', 'removeTag', 'exportFile',
		'importFile', 'undo', 'sendAndWait', 'send', 'erase', 'export',
	];
	const silent = new Set(
		resources.flatMap(({ operations }) =>
			operations.filter(({ toolAction }) => toolAction === undefined).map(({ option }) => String(option.value)),
		),
	);
	expect([...silent].sort()).toEqual(general.sort());
});
