import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { isAnsweredWith, isNotFound } from '../api/fetchRecord';
import type { Field } from '../fields/field';
import { matchKey, valueIn } from '../fields/keys';
import { idText } from '../base/json';
import { outdatedVersion } from '../api/http/statuses';
import type { PlannedChange } from './plannedChange';

/**
 * The deletions that the responses of a run make doubtful: an item that was refused, or accepted as an existing
 * record, may be a record that seemed to be missing in the source, under another key. Those records are left
 * alone until that is settled.
 */
export class UnsafeDeletions {
	/** Ids of records that responses name. */
	private readonly named = new Map<string, string>();
	private general: string | undefined;
	/** Ids of the records that were read, or created since. */
	private readonly knownIds: Set<string>;

	private readonly match: Field[];

	/** @param match the fields that records are found by */
	constructor(planned: PlannedChange[], match: Field[]) {
		this.match = match;
		this.knownIds = new Set(planned.flatMap(({ record }) => (record ? [record.id] : [])));
	}

	/** Notes a change that was refused or has failed. */
	add({ item, record }: PlannedChange, error: Error): void {
		if (item === undefined) return;
		const refusal = error instanceof NodeApiError ? error : undefined;
		const id = idText((refusal?.context.data as { existing_id?: unknown } | undefined)?.existing_id);
		if (id !== undefined && id !== record?.id && this.knownIds.has(id)) {
			this.named.set(id, `The CRM refused item ${item}, because this record already has one of its values. The record was left unchanged.`);
		} else if (!record || !isAboutRecord(error)) {
			this.general ??= `Item ${item} could not be written, but may be this record under another key. The record was left unchanged.`;
		}
	}

	/**
	 * Notes the CRM's response to an accepted change.
	 *
	 * @returns why a creation did not create a record, as far as the response shows; undefined if it did
	 */
	addAnswer({ item, action, record, patch = {} }: PlannedChange, answered: IDataObject): string | undefined {
		const id = idText(answered.id);
		if (item === undefined || id === record?.id) {
			if (item === undefined || action !== 'create') return undefined;
			this.general ??= `The CRM’s response to item ${item} has no record, so the item may be this record under another key. The record was left unchanged.`;
			return withoutRecord;
		}
		if (id === undefined) return undefined;
		const isKnown = this.knownIds.has(id);
		if (isKnown) this.named.set(id, `The CRM matched item ${item} to this record. The record was left unchanged.`);
		this.knownIds.add(id);
		if (action !== 'create') return undefined;
		if (isKnown) return tookFor(id);
		// One unchanged key finds the record again; a key missing in the response may be unchanged.
		const keys = this.match.filter((field) => field.name !== 'id' && matchKey(field, valueIn(patch, field)) !== undefined);
		const isKept = (field: Field) =>
			valueIn(answered, field) === undefined || matchKey(field, valueIn(answered, field)) === matchKey(field, valueIn(patch, field));
		const [first] = keys;
		if (!first || keys.some(isKept)) return undefined;
		this.general ??= `The CRM stored the key of item ${item} in a different format, so this record may be that item. It was left unchanged.`;
		return otherNotation(first.label, id, String(valueIn(answered, first) ?? ''));
	}

	/** Why the record is left alone; undefined if it may be changed. */
	about({ record }: PlannedChange): string | undefined {
		return this.named.get(record?.id ?? '') ?? this.general;
	}
}

/** Whether a refusal says that the record was changed or deleted meanwhile, and is not about a value. */
const isAboutRecord = (error: Error): boolean => isNotFound(error) || isAnsweredWith(error, outdatedVersion);

export const withoutRecord =
	'The CRM returned no record for this item, so it is unknown whether it wrote one. No record was deleted or set as missing. The next run looks for it by its key.';
const otherNotation = (label: string, id: string, key: string) =>
	`${label}: record ${id} was created, but the CRM stored its key as “${key.slice(0, 100)}”. This item will not find it, so the next run would create another one. Write the key as the CRM does, or match on another field.`;
const tookFor = (id: string) =>
	`The CRM did not create a record: it returned record ${id}, which already existed and may have been changed. Correct the key of the item or of the record.`;
