import type { IDataObject } from 'n8n-workflow';

import { chunks, maxIds } from '../api/batchRequest';
import type { Connection } from '../api/connection';
import { findRecord } from '../api/fetchRecord';
import { idText } from '../api/http/json';
import { path as pathOf, type Query } from '../api/http/path';
import type { ListDescription } from '../api/openapi/listing';
import { idField } from '../fields/field';
import { inParallel } from '../api/inParallel';
import { lookUp, valuesPerRequest } from '../mapping/lookUp';
import { deletedLinks, type RecordHistory } from './history';
import type { Current } from './current';

/** Records of one kind to read. */
interface ReadRequest {
	template: string;
	ids: Set<string>;
	/** Names of the fields that are compared. */
	fields: Set<string>;
}

/**
 * Reads the records of the histories, and those that were created in their place, deleted ones included where
 * the service lists them.
 *
 * @param isSightLimited whether the credential may see only some of the records
 * @throws NodeApiError where the service does not answer
 */
export async function readCurrent(api: Connection, histories: RecordHistory[], isSightLimited: boolean): Promise<Current> {
	const readRequests = new Map<string, ReadRequest>();
	const linksToDeleted = deletedLinks(histories);
	for (const { collection, template, id, anew, fields, problem, deletion } of histories) {
		if (problem !== undefined) continue;
		const readRequest = readRequests.get(collection) ?? { template, ids: new Set<string>(), fields: new Set(['version']) };
		readRequests.set(collection, readRequest);
		for (const each of [id, ...anew.map((other) => other.id)]) readRequest.ids.add(each);
		const links = anew.length > 0 && deletion ? Object.keys(deletion.record).filter((name) => name !== 'id' && linksToDeleted(deletion.record[name])) : [];
		for (const name of [...fields.keys(), ...links]) readRequest.fields.add(name.replace(/\..*$/s, ''));
	}
	const read = new Map<string, Map<string, IDataObject>>();
	const deleted = new Map<string, ListDescription['deleted']>();
	for (const [collection, { template, ids, fields }] of readRequests) {
		const { list, fields: described = [] } = (await api.describe(template)) ?? {};
		deleted.set(collection, list?.deleted);
		const time = described.some(({ name }) => name === 'updated_at') ? ['updated_at'] : [];
		const names = [...fields, ...time, ...(list?.deleted ? [list.deleted.field] : [])];
		const scope: Query = list?.deleted ? { [list.deleted.parameter]: true } : {};
		read.set(collection, await recordsById(api, { collection, list, fields: names }, [...ids], scope));
	}
	return {
		isSightLimited,
		record: (collection, id) => read.get(collection)?.get(id),
		showsDeleted: (collection) => deleted.get(collection) !== undefined,
		isDeleted: (collection, record) => (record[deleted.get(collection)?.field ?? ''] ?? null) !== null,
	};
}

/** The records by their ids; with one request for each where the service has no filter for ids. */
export async function recordsById(
	api: Connection,
	{ collection, list, fields }: { collection: string; list: ListDescription | undefined; fields: string[] },
	ids: string[],
	scope: Query = {},
): Promise<Map<string, IDataObject>> {
	const path = `/v1${collection}`;
	const found = new Map<string, IDataObject>();
	const alone = async (id: string) => {
		const record = await findRecord(api, path + pathOf`/${id}`);
		if (record && idText(record.id) === id) found.set(id, record);
	};
	if (!list || valuesPerRequest(list, idField) <= 1) {
		await inParallel(ids, alone);
		return found;
	}
	for (const some of chunks(ids, maxIds * 10)) {
		const outcomeOf = await lookUp({ api, path, list, filters: list.filters, fields }, idField, some, scope);
		const unclear: string[] = [];
		for (const id of some) {
			const outcome = outcomeOf(id);
			if ('found' in outcome) found.set(id, outcome.found);
			else if (!('notFound' in outcome)) unclear.push(id);
		}
		await inParallel(unclear, alone);
	}
	return found;
}
