import { DateTime } from 'luxon';
import type { IDataObject, ITriggerFunctions } from 'n8n-workflow';

/** The defaults that the parameters show. */
const defaults = { atOnce: 5, attempts: 3, groupSize: 100, interval: 15 };

/** When a group counts as finished. */
export type DoneWhen = 'started' | 'ended' | 'succeeded';

export interface DispatchOptions {
	doneWhen: DoneWhen;
	/** Executions of one group, the first included, before it is set aside (`succeeded`). */
	attempts: number;
	/** What to do with a group whose execution was running when n8n was killed (`succeeded`). */
	afterCrash: 'startAgain' | 'setAside';
	/** Maximum number of concurrent executions. */
	atOnce: number;
	/** Maximum number of events or records in a group. */
	groupSize: number;
}

/** What the user chose beside the events or records. */
export interface ChangeChoice extends DispatchOptions {
	source: 'events' | 'records';
	/** The date to begin at, as the user entered it; empty for now. */
	start: string;
	/** The instant it means (RFC 3339); empty for now. */
	since: string;
	groupSize: number;
	/** Milliseconds between two readings. */
	interval: number;
}

/** @throws Error in the user's words where Since is not a date */
export function readChangeChoice(n8n: ITriggerFunctions): ChangeChoice {
	const { afterCrash, atOnce, interval } = n8n.getNodeParameter('options', {}) as IDataObject;
	const source = n8n.getNodeParameter('source', 'events') as ChangeChoice['source'];
	const doneWhen = n8n.getNodeParameter('doneWhen', 'started') as DoneWhen;
	const isGrouped = n8n.getNodeParameter('grouping', 'each') === 'group';
	return {
		source,
		...(source === 'events' ? startOf(n8n) : { start: '', since: '' }),
		doneWhen,
		attempts: positive(n8n.getNodeParameter('attempts', defaults.attempts), defaults.attempts),
		afterCrash: afterCrash === 'setAside' ? 'setAside' : 'startAgain',
		atOnce: doneWhen === 'ended' ? 1 : positive(atOnce, defaults.atOnce),
		groupSize: isGrouped ? positive(n8n.getNodeParameter('groupSize', defaults.groupSize), defaults.groupSize) : 1,
		interval: 1000 * positive(interval, defaults.interval),
	};
}

function positive(value: unknown, otherwise: number): number {
	const number = Math.floor(Number(value ?? otherwise));
	return number >= 1 ? number : otherwise;
}

function startOf(n8n: ITriggerFunctions): Pick<ChangeChoice, 'start' | 'since'> {
	if (n8n.getNodeParameter('start', 'now') === 'now') return { start: '', since: '' };
	const start = String(n8n.getNodeParameter('since', '')).trim();
	const instant = DateTime.fromISO(start.replace(' ', 'T'), { zone: n8n.getTimezone() });
	if (instant.isValid) return { start, since: instant.toUTC().toISO() };
	throw new Error(`Since: “${start}” is not a date. Choose the date to start from.`);
}
