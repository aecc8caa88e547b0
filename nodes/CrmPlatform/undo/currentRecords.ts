import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { Query } from '../api/http/path';
import type { ListDescription } from '../api/openapi/listing';
import { getOrCreate } from '../base/maps';
import { recordsById } from '../lookUp/lookUp';
import { topLevelName } from './fieldValues';
import { linksToDeletedRecords, type RecordHistory, type Recreation } from './history';

/** The records as the CRM has them now. */
export class CurrentRecords {
	private readonly recordsByCollection: ReadonlyMap<string, ReadonlyMap<string, IDataObject>>;
	private readonly deletedByCollection: ReadonlyMap<string, ListDescription['deleted']>;

	constructor(recordsByCollection: CurrentRecords['recordsByCollection'], deletedByCollection: CurrentRecords['deletedByCollection']) {
		this.recordsByCollection = recordsByCollection;
		this.deletedByCollection = deletedByCollection;
	}

	/** A record, deleted or not; undefined if the service does not return it. */
	record(collection: string, id: string): IDataObject | undefined {
		return this.recordsByCollection.get(collection)?.get(id);
	}

	/** A record that exists, as far as the service shows. */
	livingRecord(collection: string, id: string): IDataObject | undefined {
		const record = this.record(collection, id);
		const deletedField = this.deletedByCollection.get(collection)?.field ?? '';
		return record && (record[deletedField] ?? null) === null ? record : undefined;
	}

	/** The existing record that an undo, whoever ran it, has created in place of a deleted one. */
	livingRecreation({ collection, recreations }: RecordHistory): LivingRecreation | undefined {
		for (const recreation of recreations) {
			const record = this.livingRecord(collection, recreation.id);
			if (record) return { ...recreation, record };
		}
		return undefined;
	}

	/** Whether the service returns deleted records: a record that it does not return is then invisible to the credential. */
	showsDeleted(collection: string): boolean {
		return this.deletedByCollection.get(collection) !== undefined;
	}
}

export type LivingRecreation = Recreation & { record: IDataObject };

/** A request for records of one type. */
interface ReadRequest {
	template: string;
	ids: Set<string>;
	/** Names of the fields that are compared. */
	fields: Set<string>;
}

/**
 * Reads the records of the histories and those that were created in their place, including deleted ones if the
 * service lists them.
 *
 * @throws NodeApiError if the service does not answer
 */
export async function readCurrentRecords(api: Connection, histories: RecordHistory[]): Promise<CurrentRecords> {
	const recordsByCollection = new Map<string, Map<string, IDataObject>>();
	const deletedByCollection = new Map<string, ListDescription['deleted']>();
	for (const [collection, { template, ids, fields }] of readRequestsFor(histories)) {
		const { list, fields: described = [] } = (await api.describe(template)) ?? {};
		deletedByCollection.set(collection, list?.deleted);
		const time = described.some(({ name }) => name === 'updated_at') ? ['updated_at'] : [];
		const names = [...fields, ...time, ...(list?.deleted ? [list.deleted.field] : [])];
		const scope: Query = list?.deleted ? { [list.deleted.parameter]: true } : {};
		recordsByCollection.set(collection, await recordsById(api, { collection, list, fields: names }, [...ids], scope));
	}
	return new CurrentRecords(recordsByCollection, deletedByCollection);
}

function readRequestsFor(histories: RecordHistory[]): Map<string, ReadRequest> {
	const readRequests = new Map<string, ReadRequest>();
	const linksToDeleted = linksToDeletedRecords(histories);
	for (const { collection, template, id, recreations, fields, problem, deletion } of histories) {
		if (problem !== undefined) continue;
		const readRequest = getOrCreate(readRequests, collection, () => ({ template, ids: new Set<string>(), fields: new Set(['version']) }));
		for (const recordId of [id, ...recreations.map((recreation) => recreation.id)]) readRequest.ids.add(recordId);
		for (const name of fields.keys()) readRequest.fields.add(topLevelName(name));
		// These links may be missing in the record that was created again.
		for (const [name, value] of recreations.length > 0 && deletion ? Object.entries(deletion.record) : []) {
			if (name !== 'id' && linksToDeleted(value)) readRequest.fields.add(topLevelName(name));
		}
	}
	return readRequests;
}
