import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { nodeContext } from '../writing/runState';
import type { PlannedChange } from '../changes/plan';

/** Values that a rule overwrote in a failed attempt, by record id. */
interface OverwrittenValues {
	/** The run index of the node in this execution. */
	run: number;
	records: Record<string, Pick<PlannedChange, 'changes' | 'reason'>>;
}

const contextName = 'overwritten';
const runOf = (n8n: IExecuteFunctions) => n8n.getWorkflowDataProxy(0).$runIndex as number;

/** Maximum number of records in an error message; its data has all. */
const maxReported = 20;

/**
 * Keeps what When Both Changed has overwritten for the next attempt at this execution: a failed node has no output,
 * and the next attempt finds equal values.
 *
 * @returns the overwritten values for the error: in words, and all of them as data
 */
export function rememberOverwritten(n8n: IExecuteFunctions, done: PlannedChange[]): { lines: string[]; overwritten: IDataObject[] } {
	const overwrittenChanges = done.filter(isOverwritten);
	const context = nodeContext(n8n);
	if (overwrittenChanges.length === 0) {
		delete context[contextName];
		return { lines: [], overwritten: [] };
	}
	const records = Object.fromEntries(overwrittenChanges.map(({ record, changes, reason }) => [record!.id, { changes, reason }]));
	context[contextName] = { run: runOf(n8n), records };
	const lines = overwrittenChanges.slice(0, maxReported).map(({ item, record, changes, reason }) => {
		const values = changes.flatMap(({ field, from, to, kept }) =>
			kept ? [] : [`${field}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`],
		);
		return `Overwritten in record ${record!.id} (item ${item}): ${values.join(', ')}. ${reason}`;
	});
	if (overwrittenChanges.length > maxReported) lines.push(`… and ${overwrittenChanges.length - maxReported} more: see overwritten in the data of this error.`);
	const overwritten = overwrittenChanges.map(({ item, record, changes, reason }) => ({ item, id: record!.id, changes, reason }));
	return { lines, overwritten };
}

/** Adds the changes that the previous attempt at this execution has made by a rule. */
export function withPreviouslyOverwritten(n8n: IExecuteFunctions, done: PlannedChange[]): PlannedChange[] {
	const previous = nodeContext(n8n)[contextName] as OverwrittenValues | undefined;
	if (previous?.run !== runOf(n8n)) return done;
	return done.map((change): PlannedChange => {
		const before = change.action === 'unchanged' && change.record && previous.records[change.record.id];
		return before ? { ...change, ...before, action: 'update' } : change;
	});
}

const isOverwritten = ({ action, item, record, reason }: PlannedChange): boolean =>
	action === 'update' && item !== undefined && record !== undefined && reason !== undefined;
