import { type IDataObject, type INodeExecutionData, type ITriggerFunctions, type ITriggerResponse, NodeOperationError } from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { inParallel } from '../../api/inParallel';
import { RecentMap } from '../../base/maps';
import { systemClock } from '../../base/clock';
import { openEventLog } from '../../log/eventLog';
import { eventOutput, namedRecords } from '../eventOutput';
import { triggerKey } from '../storedState';
import { type EventChoice, ignoredOrigins, readEventChoice, readOrigin, refuseUnknownFields } from '../eventProperties';
import { readOnlyIf } from '../onlyIf';
import { readPollOptions, type PollSettings } from './pollProperties';
import { latestChosen, storedPosition } from './position';
import { startPolling } from './poller';
import type { Access } from './groupReader';
import { RecordReader, type RecordScope } from './records';
import { sendReport } from './reports';
import { asNodeError, reportFailure } from '../reportFailure';
import { asExecution, isStartedByN8n, readingOf } from '../triggerContext';
import { type Query, withoutParameterNames } from '../../api/http/path';
import { withFields } from '../../lookUp/recordList';
import { queriesOf, readFilters } from '../../mapping/filters';
import { collectionPath, pickedId } from '../../mapping/locator';
import { namesToAdd, outputFieldsOf, simplify } from '../../reading/simplify';
import { resourceNamed } from '../../resources';

/** Triggers whose failed start was reported. */
const reportedStarts = new RecentMap<string, true>(10_000);

/**
 * Starts executions with events of the service, from a stored position on. A manual run returns the latest
 * events or records and leaves the position alone.
 *
 * @throws NodeApiError or NodeOperationError in the user's words, which makes the publish fail
 */
export async function startPollTrigger(n8n: ITriggerFunctions, clock = systemClock): Promise<ITriggerResponse> {
	try {
		const api = await connect(n8n, clock);
		const settings = await readSettings(n8n, api);
		if (n8n.getMode() === 'manual') {
			const access = await openAccess(api, settings);
			return { manualTriggerFunction: async () => n8n.emit([await testItems(n8n, access, settings.events)]) };
		}
		// Before n8n 2.20, `emit` takes no key, so that a crash would start events twice.
		if (n8n.emit.length < 4) throw new Error(tooOld);
		const tell = (message: string): void => sendReport(n8n, { message });
		const response = await startPolling({ n8n, clock, settings }, await openAccess(api, settings, tell), async (current) => {
			const renewed = await connect(n8n, clock);
			return renewed.viewer === current.viewer ? undefined : await openAccess(renewed, settings, tell);
		});
		reportedStarts.delete(triggerKey(n8n));
		return response;
	} catch (error) {
		const nodeError = asNodeError(n8n, error);
		// n8n shows a failed publish to the user, but not a failed start of its own, which it repeats.
		if (isStartedByN8n(n8n) && !reportedStarts.get(triggerKey(n8n))) {
			reportedStarts.set(triggerKey(n8n), true);
			reportFailure(n8n, nodeError);
		}
		throw nodeError;
	}
}

const openAccess = async (api: Connection, { scope }: PollSettings, tell?: (message: string) => void): Promise<Access> =>
	({ api, log: await openEventLog(api, tell), records: scope && new RecordReader(api, scope) });

async function readSettings(n8n: ITriggerFunctions, api: Connection): Promise<PollSettings> {
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

const tooOld = 'This n8n is too old for the CRM Platform Poll Trigger, which needs n8n 2.20 or newer. Update n8n, then try again.';

/** Number of events or records that a test shows. */
const maxShown = 5;

/**
 * The latest events in sequence, or the newest records, for a test by hand.
 *
 * @throws NodeOperationError if there is nothing to show
 */
async function testItems(n8n: ITriggerFunctions, { api, log, records }: Access, choice: EventChoice): Promise<INodeExecutionData[]> {
	const { output } = choice;
	const events = records ? [] : (await latestChosen(log, choice, maxShown)).reverse();
	const items = records ? await records.latest(maxShown) : await inParallel(events, async (event) => await eventOutput(event, output, api));
	const found = await namedRecords(api, items, output.names, records?.scope.recordType);
	if (found.length > 0) return found.map((json) => ({ json }));
	if (records) throw new NodeOperationError(n8n.getNode(), 'No record matches');
	throw new NodeOperationError(n8n.getNode(), 'None of the latest events matches', {
		description:
			'The trigger will still work once the workflow is published. To see an event here, make a matching change in the CRM, then test again.',
	});
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
	const isUnchanged = stored?.entered === entered;
	const filters = isUnchanged ? (stored.queries as Query[]) : queriesOf((await readFilters(run, 'recordFilters', list))[0]!);
	const output = outputFieldsOf(run, 0, description);
	const times = [list.created, list.changed].flatMap((time) => time?.field ?? []);
	const needed = output && [...times, ...output.map(({ path: [name] }) => name)];
	return {
		eventTypes: matchingTypes.map(({ type }) => type.replace(/\{\w+\}/g, key)).sort(),
		scope: {
			path,
			recordType: resource.path,
			list,
			entered,
			filters,
			queries: needed ? filters.map((query) => withFields(list, query, needed)) : filters,
			output: (record: IDataObject) => (output ? { id: record.id, ...simplify(record, output) } : record),
		},
	};
}
