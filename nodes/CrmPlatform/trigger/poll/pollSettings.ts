import type { IDataObject, ITriggerFunctions, INodeProperties } from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { allFilters, currentFields, readableCustomFields } from '../../api/customFields';
import { type Query, withoutParameterNames } from '../../api/http/path';
import type { Clock } from '../../base/clock';
import { customFieldPrefix } from '../../fields/field';
import { type EventLog, openEventLog } from '../../log/eventLog';
import { queriesOf, readFilters } from '../../mapping/filters';
import { collectionPath, pickedId } from '../../mapping/locator';
import { filtersProperty } from '../../parameters/listParameters';
import { addNamesOption, outputFieldsOption, simplifyProperty } from '../../parameters/outputParameters';
import { choiceProperty, dateProperty, numberProperty, optionsCollection } from '../../parameters/properties';
import { namesToAdd, outputFieldsOf } from '../../reading/simplify';
import { resourceNamed, resources } from '../../resources';
import { instant } from '../../values/dates';
import { parseDate, parseOption, parsePositiveNumber, parseWholeNumber } from '../../values/parsers';
import { readOnlyIf } from '../eventFilter';
import {
	type EventParameters, ignoredOrigins, readEventParameters, readOrigin, refuseUnknownFields, eventProperties, ignoreProperties,
} from '../eventProperties';
import { asExecution, isStartedByN8n, readingOf, sendReport } from '../triggerContext';
import { storedPosition } from './position';
import { RecordReader, type RecordScope } from './records';

const forEvents = { show: { source: ['events'] } };
const forRecords = { show: { source: ['records'] } };

const polledResources = resources.filter(({ isPolled }) => isPolled);

const pollDefaults = { atOnce: 5, attempts: 3, groupSize: 100, interval: 15 };

export const pollProperties: INodeProperties[] = [
	// Not “Trigger On”: under this label, n8n's node creator offers the options as separate triggers (2.41).
	choiceProperty('Start On', 'source', 'events', [
		['Events', 'events', 'Start for each event in the CRM, once'],
		['Records', 'records', 'Start for all existing records first, then for each record that changes'],
	]),
	...eventProperties.map((property): INodeProperties => ({ ...property, displayOptions: forEvents })),
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: polledResources.map(({ name, value }) => ({ name, value })),
		default: 'contact',
		displayOptions: forRecords,
	},
	...polledResources.flatMap(({ value, parents = [] }) =>
		parents.map((parent) => ({ ...parent, displayOptions: { show: { source: ['records'], resource: [value] } } })),
	),
	{
		...filtersProperty({
			displayName: 'Records in Scope',
			name: 'recordFilters',
			description: 'Only include records that match all filters. Without filters, all records are included.',
		}),
		displayOptions: forRecords,
	},
	{ ...simplifyProperty, displayOptions: forRecords },
	choiceProperty('Start From', 'start', 'now', [
		['First Publish', 'now', 'Start with events that occur after the workflow is first published'],
		['A Date', 'date', 'Start with events since a date, as far back as the CRM keeps them'],
	], {
		description: 'Where to start. If you change this later, the trigger starts over from there, but skips events that already have an execution.',
		displayOptions: forEvents,
	}),
	dateProperty('Since', 'since', {
		// An expression such as {{ $now }} would change the beginning with every publish.
		noDataExpression: true,
		required: true,
		displayOptions: { show: { source: ['events'], start: ['date'] } },
		description: 'The date to start from, in the workflow’s time zone',
	}),
	choiceProperty('Executions', 'grouping', 'each', [
		['One for Each', 'each', 'Start a separate execution for each event or record'],
		['One for a Group', 'group', 'Start one execution for all new events or records, up to the group size'],
	]),
	numberProperty('Group Size', 'groupSize', pollDefaults.groupSize, {
		typeOptions: { minValue: 1, maxValue: 500 },
		description: 'The maximum number of events or records per execution',
		displayOptions: { show: { grouping: ['group'] } },
	}),
	choiceProperty('Mark as Done When', 'doneWhen', 'started', [
		['The Execution Starts', 'started', 'Start several executions at a time, regardless of their outcome'],
		['The Execution Ends', 'ended', 'Start one execution after another, in order, regardless of their outcome'],
		['The Execution Succeeds', 'succeeded', 'Start failed events again. After the last attempt, set the event aside and report it.'],
	], { description: 'When an event or record counts as done. The trigger does not start it again afterwards.' }),
	numberProperty('Attempts', 'attempts', pollDefaults.attempts, {
		typeOptions: { minValue: 1, maxValue: 20 },
		description: 'How many times to start the workflow, including the first, before the event is set aside',
		displayOptions: { show: { doneWhen: ['succeeded'] } },
	}),
	optionsCollection([
		choiceProperty('After a Crash', 'afterCrash', 'startAgain', [
			['Set Aside', 'setAside', 'Report these events instead of starting them again, so that nothing is done twice'],
			['Start Again', 'startAgain', 'Start these events again, although some may have succeeded'],
		], {
			displayOptions: { show: { '/doneWhen': ['succeeded'] } },
			description: 'What to do with events whose executions were running when n8n was killed',
			noDataExpression: false,
		}),
		numberProperty('Executions at Once', 'atOnce', pollDefaults.atOnce, {
			typeOptions: { minValue: 1, maxValue: 100 },
			description: 'The maximum number of concurrent executions. It is always one with The Execution Ends. Executions for the same record run one after another.',
		}),
		...ignoreProperties.map((property) => ({ ...property, displayOptions: { show: { '/source': ['records'] } } })),
		numberProperty('Interval (Seconds)', 'interval', pollDefaults.interval, {
			typeOptions: { minValue: 1, maxValue: 86_400 },
			description: 'How often to poll the CRM',
		}),
		addNamesOption,
		{ ...outputFieldsOption, displayOptions: { show: { '/source': ['records'] } } },
	]),
];

/** The parameters of the trigger beside the events or records. */
export interface PollOptions {
	startOn: 'events' | 'records';
	/** The date to begin at, as the user entered it; empty for now. */
	beginning: string;
	/** The instant it means (RFC 3339); empty for now. */
	since: string;
	doneWhen: 'started' | 'ended' | 'succeeded';
	/** Maximum number of executions of a group, including the first, before it is set aside (`succeeded`). */
	attempts: number;
	/** What to do with a group whose execution was running when n8n was killed (`succeeded`). */
	afterCrash: 'startAgain' | 'setAside';
	/** Maximum number of concurrent executions. */
	atOnce: number;
	/** Maximum number of events or records in a group. */
	groupSize: number;
	/** Milliseconds between two readings. */
	interval: number;
}

/** The parameters of the trigger, read at a publish: n8n evaluates no expressions later. */
export interface PollSettings extends Omit<PollOptions, 'startOn'> {
	events: EventParameters;
	/** Absent for events. */
	scope?: RecordScope | undefined;
}

export interface PublishedTrigger {
	n8n: ITriggerFunctions;
	clock: Clock;
	settings: PollSettings;
}

/** What a trigger reads with, by one credential. */
export interface Access {
	api: Connection;
	log: EventLog;
	/** Absent for events. */
	records: RecordReader | undefined;
	/** What the credential opens if it was changed; otherwise undefined. @throws as `openAccess`, and NodeApiError */
	renew: () => Promise<Access | undefined>;
}

/** @throws Error in the user's words if the service has no log, or cannot list the records as the trigger needs them */
export async function openAccess(trigger: PublishedTrigger, api: Connection): Promise<Access> {
	const { n8n, clock, settings: { scope } } = trigger;
	const report = n8n.getMode() === 'manual' ? undefined : (message: string) => sendReport(n8n, { message });
	const renew = async () => {
		const current = await connect(n8n, clock);
		return current.viewer === api.viewer ? undefined : await openAccess(trigger, current);
	};
	return { api, log: await openEventLog(api, report), records: scope && new RecordReader(api, scope), renew };
}

/**
 * Reads the parameters of the trigger. Names of records become IDs, unless n8n itself starts the trigger: then those stored
 * still apply, since a record may have been renamed.
 *
 * @throws Error in the user's words for what the CRM or the parameters do not offer
 */
export async function readSettings(n8n: ITriggerFunctions, api: Connection): Promise<PollSettings> {
	const { startOn, ...options } = readPollOptions(n8n);
	if (startOn === 'events') {
		const events = readEventParameters(n8n);
		if (!isStartedByN8n(n8n)) await refuseUnknownFields(api, events.events, events.filter.changedFields);
		const onlyIf = await readOnlyIf(n8n, api, events.events, storedPosition(n8n)?.choice.filter.onlyIf);
		return { ...options, events: { ...events, filter: { ...events.filter, onlyIf }, output: { ...events.output, onlyIf } } };
	}
	const { scope, eventTypes } = await readScope(n8n, api);
	const filter = { changedFields: [], equal: {}, ignored: ignoredOrigins(n8n, n8n.getNodeParameter('options', {}) as IDataObject) };
	const output = { content: 'record', receiver: readOrigin(n8n), names: namesToAdd(asExecution(n8n)) } as const;
	return { ...options, events: { events: eventTypes, filter, output }, scope };
}

/** Reads the records and their output as Get Many does, and what reports changes. @throws Error in the user's words if either is not offered */
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
	const areCustom = queries.some((query) => Object.keys(query).some((name) => name.startsWith(customFieldPrefix)));
	const custom = areCustom ? currentFields(await readableCustomFields(api, path)) : [];
	return {
		eventTypes: matchingTypes.map(({ type }) => type.replace(/\{\w+\}/g, key)).sort(),
		scope: {
			path, template: resource.path, list: { ...list, filters: allFilters(list, custom) },
			fields: [...description.fields, ...custom], filters: { entered, queries }, outputFields: await outputFieldsOf(run, 0, description),
		},
	};
}

/** @throws Error in the user's words if a parameter has a value that it does not offer */
export function readPollOptions(n8n: ITriggerFunctions): PollOptions {
	const { afterCrash, atOnce, interval } = n8n.getNodeParameter('options', {}) as IDataObject;
	const startOn = parseOption('Start On', n8n.getNodeParameter('source', 'events'), ['events', 'records']);
	const doneWhen = parseOption('Mark as Done When', n8n.getNodeParameter('doneWhen', 'started'), ['started', 'ended', 'succeeded']);
	const grouping = parseOption('Executions', n8n.getNodeParameter('grouping', 'each'), ['each', 'group']);
	return {
		startOn,
		...(startOn === 'events' ? beginningOf(n8n) : { beginning: '', since: '' }),
		doneWhen,
		attempts: positive('Attempts', n8n.getNodeParameter('attempts', pollDefaults.attempts), pollDefaults.attempts),
		afterCrash: parseOption('After a Crash', afterCrash, ['startAgain', 'setAside'], { otherwise: 'startAgain' }),
		atOnce: doneWhen === 'ended' ? 1 : positive('Executions at Once', atOnce, pollDefaults.atOnce),
		groupSize: grouping === 'group' ? positive('Group Size', n8n.getNodeParameter('groupSize', pollDefaults.groupSize), pollDefaults.groupSize) : 1,
		interval: 1000 * Math.max(1, parsePositiveNumber('Interval (Seconds)', interval, { max: 86_400, unit: 'seconds', otherwise: pollDefaults.interval })),
	};
}

const positive = (label: string, value: unknown, otherwise: number): number => parseWholeNumber(label, value, { min: 1, otherwise });

function beginningOf(n8n: ITriggerFunctions): Pick<PollOptions, 'beginning' | 'since'> {
	if (parseOption('Start From', n8n.getNodeParameter('start', 'now'), ['now', 'date']) === 'now') return { beginning: '', since: '' };
	const beginning = String(n8n.getNodeParameter('since', '')).trim();
	const since = instant(parseDate('Since', beginning, { zone: n8n.getTimezone() }));
	if (since) return { beginning, since };
	throw new Error(`Since: “${beginning}” is not a date. Choose the date to start from.`);
}
