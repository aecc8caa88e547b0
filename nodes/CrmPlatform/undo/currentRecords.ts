import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { Query } from '../api/http/path';
import type { ListDescription } from '../api/openapi/listing';
import { recordsById } from '../lookUp/lookUp';
import { topLevelName } from './fieldValues';
import { linksToDeletedRecords, type RecordHistory, type Recreation } from './history';

/** The records of a collection as the CRM has them now. */
interface Current {
	records: ReadonlyMap<string, IDataObject>;
	/** How the service marks deleted records, if it returns them. */
	deleted: ListDescription['deleted'];
}

/** The records as the CRM has them now. */
export class CurrentRecords {
	private readonly byCollection: ReadonlyMap<string, Current>;

	constructor(byCollection: ReadonlyMap<string, Current>) {
		this.byCollection = byCollection;
	}

	/** A record, deleted or not; undefined if the service does not return it. */
	record(collection: string, id: string): IDataObject | undefined {
		return this.byCollection.get(collection)?.records.get(id);
	}

	/** A record that exists, as far as the service shows. */
	livingRecord(collection: string, id: string): IDataObject | undefined {
		const record = this.record(collection, id);
		const deletedField = this.byCollection.get(collection)?.deleted?.field ?? '';
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
		return this.byCollection.get(collection)?.deleted !== undefined;
	}
}

export type LivingRecreation = Recreation & { record: IDataObject };

/**
 * Reads the records of the histories and those that were created in their place, including deleted ones if the
 * service lists them.
 *
 * @throws NodeApiError if the service does not answer
 */
export async function readCurrentRecords(api: Connection, histories: RecordHistory[]): Promise<CurrentRecords> {
	const byCollection = new Map<string, Current>();
	const readable = histories.filter(({ problem }) => problem === undefined);
	const linksToDeleted = linksToDeletedRecords(histories);
	for (const collection of new Set(readable.map((history) => history.collection))) {
		const group = readable.filter((history) => history.collection === collection);
		const { list } = (await api.describe(group[0]!.template)) ?? {};
		const ids = new Set(group.flatMap(({ id, recreations }) => [id, ...recreations.map((recreation) => recreation.id)]));
		const names = new Set(['version', ...group.flatMap((history) => [...history.fields.keys(), ...linksTo(linksToDeleted, history)].map(topLevelName))]);
		const { deleted } = list ?? {};
		if (deleted) names.add(deleted.field);
		const scope: Query = deleted ? { [deleted.parameter]: true } : {};
		byCollection.set(collection, { deleted, records: await recordsById(api, { path: `/v1${collection}`, list, fields: [...names] }, [...ids], scope) });
	}
	return new CurrentRecords(byCollection);
}

/** The links of a deleted record that may be missing in the record that was created again. */
const linksTo = (linksToDeleted: (value: unknown) => boolean, { recreations, deletion }: RecordHistory): string[] =>
	Object.entries(recreations.length > 0 && deletion ? deletion.record : {}).flatMap(([name, value]) => (name !== 'id' && linksToDeleted(value) ? [name] : []));
