import { DateTime } from 'luxon';
import type { IDataObject, ITriggerFunctions } from 'n8n-workflow';

import { readOption, readPositiveNumber, readWholeNumber } from '../../values/readers';

/** The defaults that the parameters show. */
const defaults = { atOnce: 5, attempts: 3, groupSize: 100, interval: 15 };

const sources = ['events', 'records'] as const;
const conditions = ['started', 'ended', 'succeeded'] as const;
const afterCrashes = ['startAgain', 'setAside'] as const;

/** When a group counts as finished. */
export type DoneWhen = (typeof conditions)[number];

export interface DispatchOptions {
	doneWhen: DoneWhen;
	/** Maximum number of executions of a group, including the first, before it is set aside (`succeeded`). */
	attempts: number;
	/** What to do with a group whose execution was running when n8n was killed (`succeeded`). */
	afterCrash: (typeof afterCrashes)[number];
	/** Maximum number of concurrent executions. */
	atOnce: number;
	/** Maximum number of events or records in a group. */
	groupSize: number;
}

/** The user's choices beside the events or records. */
export interface ChangeChoice extends DispatchOptions {
	source: (typeof sources)[number];
	/** The date to begin at, as the user entered it; empty for now. */
	start: string;
	/** The instant it means (RFC 3339); empty for now. */
	since: string;
	groupSize: number;
	/** Milliseconds between two readings. */
	interval: number;
}

/** @throws Error in the user's words if a parameter has a value that it does not offer */
export function readChangeChoice(n8n: ITriggerFunctions): ChangeChoice {
	const { afterCrash, atOnce, interval } = n8n.getNodeParameter('options', {}) as IDataObject;
	const source = readOption('Start On', n8n.getNodeParameter('source', 'events'), sources);
	const doneWhen = readOption('Mark as Done When', n8n.getNodeParameter('doneWhen', 'started'), conditions);
	const grouping = readOption('Executions', n8n.getNodeParameter('grouping', 'each'), ['each', 'group']);
	return {
		source,
		...(source === 'events' ? startOf(n8n) : { start: '', since: '' }),
		doneWhen,
		attempts: positive('Attempts', n8n.getNodeParameter('attempts', defaults.attempts), defaults.attempts),
		afterCrash: readOption('After a Crash', afterCrash, afterCrashes, { otherwise: 'startAgain' }),
		atOnce: doneWhen === 'ended' ? 1 : positive('Executions at Once', atOnce, defaults.atOnce),
		groupSize: grouping === 'group' ? positive('Group Size', n8n.getNodeParameter('groupSize', defaults.groupSize), defaults.groupSize) : 1,
		interval: 1000 * Math.max(1, readPositiveNumber('Interval (Seconds)', interval, { max: 86_400, unit: 'seconds', otherwise: defaults.interval })),
	};
}

const positive = (label: string, value: unknown, otherwise: number): number => readWholeNumber(label, value, { min: 1, otherwise });

function startOf(n8n: ITriggerFunctions): Pick<ChangeChoice, 'start' | 'since'> {
	if (readOption('Start From', n8n.getNodeParameter('start', 'now'), ['now', 'date']) === 'now') return { start: '', since: '' };
	const start = String(n8n.getNodeParameter('since', '')).trim();
	const instant = DateTime.fromISO(start.replace(' ', 'T'), { zone: n8n.getTimezone() });
	if (instant.isValid) return { start, since: instant.toUTC().toISO() };
	throw new Error(`Since: “${start}” is not a date. Choose the date to start from.`);
}
