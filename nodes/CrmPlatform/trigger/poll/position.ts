import type { IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import type { CrmEvent } from '../../api/event';
import { passesFilter, type EventFilter } from '../eventFilter';

/** Which events the user chose. */
export interface PollCriteria {
	/** Types and patterns. */
	events: string[];
	filter: EventFilter;
}

/** How far the log of events was read. */
export interface Position {
	/** The account whose log it is; empty while that is not known. */
	account: string;
	/** Where the user wanted to begin: an instant (RFC 3339), or empty for the first activation. */
	start: string;
	wanted: PollCriteria;
	/** What was wanted before holds for the events up to a sequence. */
	before?: { wanted: PollCriteria; upTo: number } | undefined;
	/** Nothing at or below this sequence is wanted: it was there before the reading began. */
	floor: number;
	/** Everything up to this sequence was read. */
	sequence: number;
	/** The events read of late, by id, with their sequence: `overlap` of the newest. */
	seen: Record<string, number>;
	/** When the log was last read (RFC 3339). */
	at: string;
}

/**
 * So many sequence numbers are read again each time. A service that counts events before it commits
 * them may show a lower number after a higher one.
 */
export const overlap = 200;

const wanted = z.object({
	events: z.array(z.string()),
	filter: z.object({
		changedFields: z.array(z.string()),
		equal: z.record(z.array(z.string())),
	}),
});

const schema: z.ZodType<Position> = z.object({
	account: z.string(),
	start: z.string(),
	wanted,
	before: z.object({ wanted, upTo: z.number().int() }).optional(),
	floor: z.number().int(),
	sequence: z.number().int(),
	seen: z.record(z.number().int()),
	at: z.string(),
});

/** A position as n8n keeps it, with the name the node had then. */
const noted = z.object({ node: z.string(), position: schema });

/**
 * Where n8n keeps the position. The node's own place goes by the node's name and is another one
 * after a rename; the workflow's place stays. Both are written.
 */
function places(n8n: IPollFunctions) {
	const { id, name } = n8n.getNode();
	const own = n8n.getWorkflowStaticData('node');
	const shared = n8n.getWorkflowStaticData('global');
	return { own, shared, name, key: `crmPlatformPollTrigger:${id}` };
}

/**
 * The position as it was stored last; undefined if there is none. The node's own place counts, as
 * n8n may write it in one transaction with the execution, unless the node has got another name: what
 * is there under this name is then of old, if anything.
 */
export function storedPosition(n8n: IPollFunctions): Position | undefined {
	const { own, shared, name, key } = places(n8n);
	const ofNode = noted.safeParse(own[key]).data;
	const ofWorkflow = noted.safeParse(shared[key]).data;
	const isRenamed = ofWorkflow !== undefined && ofWorkflow.node !== name;
	return (isRenamed ? ofWorkflow : (ofNode ?? ofWorkflow))?.position;
}

/** n8n writes it down when the poll's items start an execution. */
export function storePosition(n8n: IPollFunctions, position: Position): void {
	const { own, shared, name, key } = places(n8n);
	for (const place of [own, shared]) place[key] = { node: name, position: { ...position } };
}

/** Where to read on: behind the floor, and `overlap` before the position. */
export function firstSequenceToRead({ floor, sequence }: Position): number {
	return Math.max(floor, sequence - overlap);
}

/** Whether the user wants an event, and wanted it when it happened. */
export function matchesCriteria({ wanted, before }: Position, event: CrmEvent): boolean {
	if (!passesFilter(event, wanted.filter)) return false;
	if (before === undefined || event.sequence > before.upTo) return true;
	const { events, filter } = before.wanted;
	return events.some((pattern) => covers(pattern, event.type)) && passesFilter(event, filter);
}

const covers = (pattern: string, type: string): boolean =>
	pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;

/**
 * The position after a reading.
 *
 * @param read the events it gave, by id, with their sequence
 * @param upTo the sequence up to which none was left out
 * @param now Unix epoch milliseconds
 */
export function advanced(
	position: Position,
	read: Record<string, number>,
	upTo: number,
	now: number,
): Position {
	const sequence = Math.max(position.sequence, upTo);
	const seen = Object.entries({ ...position.seen, ...read });
	return {
		...position,
		sequence,
		seen: Object.fromEntries(seen.filter(([, one]) => one > sequence - overlap)),
		at: new Date(now).toISOString(),
	};
}
