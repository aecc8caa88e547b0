import type { ITriggerFunctions } from 'n8n-workflow';

import { matchesEventPattern } from '../../log/crmEvent';
import type { Clock } from '../../base/clock';
import { hasExecution } from '../unwritable';
import type { DoneWhen } from './eventChoice';
import { abandonedError } from './outcome';
import type { Group, Position } from './position';
import { reportFailure } from '../reportFailure';
import { executionKey } from './starts';

interface AbandonedGroupOptions {
	n8n: ITriggerFunctions;
	position: Position;
	isRunning(group: Group): boolean;
	options: { doneWhen: DoneWhen };
	clock: Clock;
	signal: AbortSignal;
}

/**
 * Reports open groups that only an earlier beginning could read, unless this one reads their events.
 *
 * @returns the open groups of earlier beginnings; none of them is to be started
 */
export async function reportAbandonedGroups(
	{ n8n, position, isRunning, options, clock, signal }: AbandonedGroupOptions,
): Promise<Group[]> {
	const open = position.open.filter((group) => isAbandoned(group, position) && !isRunning(group));
	const hasLastExecution = async (group: Group) => group.isEmitted === true && (await hasExecution(n8n, executionKey(n8n, group), clock));
	const abandoned = await Promise.all(open.map(async (group) => ({ group, isExecuted: await hasLastExecution(group) })));
	if (signal.aborted) return [];
	const records = new Set<string>();
	for (const { group, isExecuted } of abandoned) {
		const isStarted = isExecuted || group.attempt > 1 || group.unbegun > 0;
		const isDone = isExecuted && options.doneWhen !== 'succeeded';
		const lost = isStarted ? group.records : recordsNotRead(group, position);
		if (!isDone) for (const record of lost) records.add(record);
	}
	if (records.size > 0) reportFailure(n8n, abandonedError(n8n.getNode(), [...records]));
	return open;
}

/** Whether the records of a group are no longer known. */
function isAbandoned({ kind, start }: Group, position: Position): boolean {
	return start !== position.start && (kind === 'records' || start.startsWith('records '));
}

/** Records of a group whose events will not be read from the position. */
function recordsNotRead({ kind, records, sequences, timestamps, types }: Group, position: Position): string[] {
	const { choice, replaced, since } = position;
	// The group does not show whether an event passes the filter.
	const isUnfiltered = choice.filter.changedFields.length === 0 && Object.values(choice.filter.equal).every((values) => values.length === 0);
	const isChosen = (type: string) => choice.events.some((pattern) => matchesEventPattern(pattern, type));
	if (kind === 'records' || !isUnfiltered || replaced.length > 0 || !types.every(isChosen)) return records;
	return records.filter((_, i) => sequences[i]! <= position.sequence || Date.parse(timestamps[i]!) < Date.parse(since));
}
