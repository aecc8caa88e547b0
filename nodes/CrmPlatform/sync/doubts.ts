import { NodeApiError } from 'n8n-workflow';

import type { PlannedChange } from './plannedChange';

/**
 * What the failures of a run cast doubt on: an item that was refused may be a record that seemed to be missing
 * in the source, under another key. Those records are left until that is settled.
 */
export class Doubts {
	/** Ids of records that refusals name. */
	private readonly named = new Map<string, string>();
	private general: string | undefined;

	/** Takes note of a change that was refused, or failed. */
	add({ item, action }: PlannedChange, error: Error): void {
		if (item === undefined) return;
		const data = error instanceof NodeApiError ? (error.context.data as { existing_id?: unknown } | undefined) : undefined;
		const id = data?.existing_id;
		if (typeof id === 'string') this.named.set(id, `The CRM refused item ${item}, as this record has one of its values. It was left.`);
		const isConflict = error instanceof NodeApiError && error.httpCode === '409';
		const mayBeAny = typeof id !== 'string' && (action === 'create' || isConflict);
		if (mayBeAny) this.general ??= `Item ${item} could not be written, and may be this record under another key. It was left.`;
	}

	/** Why the record is left; undefined where nothing speaks against its change. */
	about({ record }: PlannedChange): string | undefined {
		return this.named.get(record?.id ?? '') ?? this.general;
	}
}
