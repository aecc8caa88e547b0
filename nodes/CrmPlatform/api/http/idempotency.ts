import { createHash } from 'node:crypto';

/** What makes one logical write of a workflow this one and no other. */
export interface WriteIdentity {
	/** The n8n installation: two of them may run copies of one workflow on one account. */
	instance: string;
	workflow: string;
	execution: string;
	node: string;
	/** Which run of the node in this execution (loops, calls by an AI agent). */
	run: number | string;
	/** Indexes of the input items it is done for. */
	items: readonly number[];
}

/**
 * The idempotency key of one write: the same for every try of it, Retry On Fail included (which
 * runs the node again with the same execution and run), and different for every other write.
 * The body is deliberately left out: a try whose values changed must not become a second record.
 *
 * @returns 64 hexadecimal characters
 */
export function idempotencyKey(identity: WriteIdentity, method: string, path: string): string {
	const { instance, workflow, execution, node, run, items } = identity;
	const parts = [instance, workflow, execution, node, run, items, method, path];
	return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
