import type { IDataObject, INodeProperties, ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../base/clock';
import { filtersProperty } from '../../parameters/listParameters';
import { addNamesOption, outputFieldsOption, simplifyProperty } from '../../parameters/outputParameters';
import { resources } from '../../resources';
import { type EventChoice, eventProperties, ignoreProperties } from '../eventProperties';
import { instant, parseMoment } from '../../values/dates';
import { parseOption, parsePositiveNumber, parseWholeNumber } from '../../values/parsers';
import { choiceProperty, dateProperty, numberProperty, optionsCollection } from '../../parameters/properties';
import type { RecordScope } from './records';

const forEvents = { show: { source: ['events'] } };
const forRecords = { show: { source: ['records'] } };

const polledResources = resources.filter(({ isPolled }) => isPolled);

/** The parameters of the Poll Trigger. */
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
	numberProperty('Group Size', 'groupSize', 100, {
		typeOptions: { minValue: 1, maxValue: 500 },
		description: 'The maximum number of events or records per execution',
		displayOptions: { show: { grouping: ['group'] } },
	}),
	choiceProperty('Mark as Done When', 'doneWhen', 'started', [
		['The Execution Starts', 'started', 'Start several executions at a time, regardless of their outcome'],
		['The Execution Ends', 'ended', 'Start one execution after another, in order, regardless of their outcome'],
		['The Execution Succeeds', 'succeeded', 'Start failed events again. After the last attempt, set the event aside and report it.'],
	], { description: 'When an event or record counts as done. The trigger does not start it again afterwards.' }),
	numberProperty('Attempts', 'attempts', 3, {
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
		numberProperty('Executions at Once', 'atOnce', 5, {
			typeOptions: { minValue: 1, maxValue: 100 },
			description: 'The maximum number of concurrent executions. It is always one with The Execution Ends. Executions for the same record run one after another.',
		}),
		...ignoreProperties.map((property) => ({ ...property, displayOptions: { show: { '/source': ['records'] } } })),
		numberProperty('Interval (Seconds)', 'interval', 15, {
			typeOptions: { minValue: 1, maxValue: 86_400 },
			description: 'How often to poll the CRM',
		}),
		addNamesOption,
		{ ...outputFieldsOption, displayOptions: { show: { '/source': ['records'] } } },
	]),
];

/** The defaults that the parameters show. */
const defaults = { atOnce: 5, attempts: 3, groupSize: 100, interval: 15 };

const startingOn = ['events', 'records'] as const;
const conditions = ['started', 'ended', 'succeeded'] as const;
const afterCrashes = ['startAgain', 'setAside'] as const;

/** The parameters of the trigger beside the events or records. */
export interface PollOptions {
	startOn: (typeof startingOn)[number];
	/** The date to begin at, as the user entered it; empty for now. */
	beginning: string;
	/** The instant it means (RFC 3339); empty for now. */
	since: string;
	/** When a group counts as finished. */
	doneWhen: (typeof conditions)[number];
	/** Maximum number of executions of a group, including the first, before it is set aside (`succeeded`). */
	attempts: number;
	/** What to do with a group whose execution was running when n8n was killed (`succeeded`). */
	afterCrash: (typeof afterCrashes)[number];
	/** Maximum number of concurrent executions. */
	atOnce: number;
	/** Maximum number of events or records in a group. */
	groupSize: number;
	/** Milliseconds between two readings. */
	interval: number;
}

/** The parameters of the trigger, read at a publish: n8n evaluates no expressions later. */
export interface PollSettings extends Omit<PollOptions, 'startOn'> {
	events: EventChoice;
	/** Absent for events. */
	scope?: RecordScope | undefined;
}

/** A trigger as the user has published it. */
export interface PublishedTrigger {
	n8n: ITriggerFunctions;
	clock: Clock;
	settings: PollSettings;
}

/** @throws Error in the user's words if a parameter has a value that it does not offer */
export function readPollOptions(n8n: ITriggerFunctions): PollOptions {
	const { afterCrash, atOnce, interval } = n8n.getNodeParameter('options', {}) as IDataObject;
	const startOn = parseOption('Start On', n8n.getNodeParameter('source', 'events'), startingOn);
	const doneWhen = parseOption('Mark as Done When', n8n.getNodeParameter('doneWhen', 'started'), conditions);
	const grouping = parseOption('Executions', n8n.getNodeParameter('grouping', 'each'), ['each', 'group']);
	return {
		startOn,
		...(startOn === 'events' ? beginningOf(n8n) : { beginning: '', since: '' }),
		doneWhen,
		attempts: positive('Attempts', n8n.getNodeParameter('attempts', defaults.attempts), defaults.attempts),
		afterCrash: parseOption('After a Crash', afterCrash, afterCrashes, { otherwise: 'startAgain' }),
		atOnce: doneWhen === 'ended' ? 1 : positive('Executions at Once', atOnce, defaults.atOnce),
		groupSize: grouping === 'group' ? positive('Group Size', n8n.getNodeParameter('groupSize', defaults.groupSize), defaults.groupSize) : 1,
		interval: 1000 * Math.max(1, parsePositiveNumber('Interval (Seconds)', interval, { max: 86_400, unit: 'seconds', otherwise: defaults.interval })),
	};
}

const positive = (label: string, value: unknown, otherwise: number): number => parseWholeNumber(label, value, { min: 1, otherwise });

function beginningOf(n8n: ITriggerFunctions): Pick<PollOptions, 'beginning' | 'since'> {
	if (parseOption('Start From', n8n.getNodeParameter('start', 'now'), ['now', 'date']) === 'now') return { beginning: '', since: '' };
	const beginning = String(n8n.getNodeParameter('since', '')).trim();
	const moment = parseMoment(beginning, n8n.getTimezone());
	const since = moment && instant(moment);
	if (since) return { beginning, since };
	throw new Error(`Since: “${beginning}” is not a date. Choose the date to start from.`);
}
