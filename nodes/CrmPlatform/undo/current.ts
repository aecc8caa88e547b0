import type { IDataObject } from 'n8n-workflow';

import type { Copy, RecordHistory } from './history';

/** What the CRM has of the records now. */
export interface Current {
	/** Undefined for what the service does not return. */
	record(collection: string, id: string): IDataObject | undefined;
	/** Whether the service returns deleted records: one that it does not return is then out of sight. */
	showsDeleted(collection: string): boolean;
	/** Whether a deletion in the log may only mean that the record became invisible to this credential. */
	isSightLimited: boolean;
	/** Whether the service tells when a record was deleted, and has. */
	isDeleted(collection: string, record: IDataObject): boolean;
}

/** The living record that an undo, whoever ran it, has created in place of a deleted one. */
export function createdInPlaceOf({ collection, anew }: RecordHistory, current: Current): Living | undefined {
	for (const copy of anew) {
		const record = livingRecord(current, collection, copy.id);
		if (record) return { ...copy, record };
	}
	return undefined;
}

export type Living = Copy & { record: IDataObject };

/** A record that the service returns and does not call deleted. */
export function livingRecord(current: Current, collection: string, id: string): IDataObject | undefined {
	const record = current.record(collection, id);
	return record && !current.isDeleted(collection, record) ? record : undefined;
}
