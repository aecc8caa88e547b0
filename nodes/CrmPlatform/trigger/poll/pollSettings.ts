import type { IDataObject, ITriggerFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { type Query, withoutParameterNames } from '../../api/http/path';
import { queriesOf, readFilters } from '../../mapping/filters';
import { collectionPath, pickedId } from '../../mapping/locator';
import { namesToAdd, outputFieldsOf } from '../../reading/simplify';
import { resourceNamed } from '../../resources';
import { ignoredOrigins, readEventChoice, readOrigin, refuseUnknownFields } from '../eventProperties';
import { readOnlyIf } from '../onlyIf';
import { asExecution, isStartedByN8n, readingOf } from '../triggerContext';
import { readPollOptions, type PollSettings } from './pollProperties';
import { storedPosition } from './position';
import type { RecordScope } from './records';

/**
 * Reads the parameters of the trigger. Names of records become IDs, unless n8n itself starts the trigger: then those stored
 * still apply, since a record may have been renamed.
 *
 * @throws Error in the user's words for what the CRM or the parameters do not offer
 */
export async function readSettings(n8n: ITriggerFunctions, api: Connection): Promise<PollSettings> {
	const { startOn, ...options } = readPollOptions(n8n);
	if (startOn === 'events') {
		const events = readEventChoice(n8n);
		if (!isStartedByN8n(n8n)) await refuseUnknownFields(api, events.events, events.filter.changedFields);
		const onlyIf = await readOnlyIf(n8n, api, events.events, storedPosition(n8n)?.choice.filter.onlyIf);
		return { ...options, events: { ...events, filter: { ...events.filter, onlyIf }, output: { ...events.output, onlyIf } } };
	}
	const { scope, eventTypes } = await readScope(n8n, api);
	const filter = { changedFields: [], equal: {}, ignored: ignoredOrigins(n8n, n8n.getNodeParameter('options', {}) as IDataObject) };
	const output = { content: 'record', receiver: readOrigin(n8n), names: namesToAdd(asExecution(n8n)) } as const;
	return { ...options, events: { events: eventTypes, filter, output }, scope };
}

/**
 * Reads which records the user chose, and their output, as Get Many does, and the types of the events that report their changes.
 *
 * @throws Error in the user's words if the service does not list the records or does not report their changes
 */
async function readScope(n8n: ITriggerFunctions, api: Connection): Promise<{ scope: RecordScope; eventTypes: string[] }> {
	const resource = resourceNamed(String(n8n.getNodeParameter('resource', 'contact')));
	const description = resource && (await api.describe(resource.path));
	const { types } = await api.describeEvents();
	const recordPath = withoutParameterNames(resource?.path ?? '');
	const matchingTypes = types.filter(({ collection }) => collection !== undefined && withoutParameterNames(collection) === recordPath);
	if (!resource || !description?.list || matchingTypes.length === 0) {
		throw new Error('The CRM cannot list these records or their changes. Choose Events.');
	}
	const { list } = description;
	const run = readingOf(n8n, api, resource);
	const path = collectionPath(run, 0);
	// Records of a custom object have events of their own: `custom.{key}.created`.
	const [object] = resource.parents ?? [];
	const key = object ? pickedId(run.n8n, object.name, 0) : '';
	const entered = JSON.stringify([path, n8n.getNodeParameter('recordFilters', {})]);
	const stored = isStartedByN8n(n8n) ? storedPosition(n8n)?.filters : undefined;
	const queries = stored?.entered === entered ? (stored.queries as Query[]) : queriesOf((await readFilters(run, 'recordFilters', list))[0]!);
	return {
		eventTypes: matchingTypes.map(({ type }) => type.replace(/\{\w+\}/g, key)).sort(),
		scope: { path, recordType: resource.path, list, filters: { entered, queries }, outputFields: outputFieldsOf(run, 0, description) },
	};
}
