import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { collectionName, type Collection } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { isAnsweredWith } from '../api/refusals';
import { nameFields, recordName } from '../api/record';
import { notReadable } from '../api/http/statuses';
import { collectionAndPart, linkTarget } from '../api/openapi/linkFields';
import type { Field } from '../fields/field';
import { idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import { setMember } from '../base/ownMembers';
import { idField } from '../fields/field';
import { recordsById, maxIds, valuesPerRequest } from './lookUp';
import { rememberedNames } from './names';
import { type Part, readParts, readPartsOnce } from './parts';

/**
 * The names of those records, or parts of records, that exist, by id; undefined if the service does not describe them.
 *
 * @param target `/companies`, `/pipelines.stages`
 */
export async function namesAt(api: Connection, target: Collection, ids: string[]): Promise<Map<string, string | undefined> | undefined> {
	const [collection, part] = collectionAndPart(target);
	const description = await api.describe(collection);
	if (!description?.list) return undefined;
	if (part !== undefined) {
		const byId = (parts: Part[]) => new Map(parts.map(({ id, name }) => [String(id), name]));
		const readBefore = byId(await readPartsOnce(api, collection, part));
		// Others may be new since: a trigger keeps its connection.
		return ids.every((id) => readBefore.has(id)) ? readBefore : byId(await readParts(api, collection, part));
	}
	const fields = nameFields.filter((name) => description.fields.some((field) => field.name === name));
	const records = await recordsById(api, { path: collection, list: description.list, fields }, ids);
	return new Map([...records].map(([id, record]) => [id, recordName(record)]));
}

type LinkFields = Array<Pick<Field, 'name' | 'target' | 'part'>>;

/** `company_id` → `company_name`, `tag_ids` → `tag_names`, `ownerId` → `ownerName`. */
const nameFieldOf = (name: string): string =>
	/[a-z]I[dD]$/.test(name) ? name.replace(/I[dD]$/, 'Name') : name.replace(/(_id(s?))?$/, '_name$2');

/** The fields with ids of other records, and the fields for their names. */
const namedLinks = (fields: LinkFields) =>
	fields.flatMap((link) => {
		const { name } = link;
		const target = linkTarget(link);
		const nameField = nameFieldOf(name);
		return target === undefined || fields.some((field) => field.name === nameField) ? [] : [{ name, target, nameField }];
	});

function addIds(ids: Set<string>, value: unknown): void {
	for (const id of Array.isArray(value) ? value : [value]) {
		const text = idText(id);
		if (text !== undefined) ids.add(text);
	}
}

/** Reads the names of parts, such as stages, before the records, on which they do not depend. A failure is reported with the names. */
export async function readNamesOfParts(api: Connection, fields: LinkFields): Promise<void> {
	const targets = namedLinks(fields).map(({ target }) => target).filter(isPart);
	await inParallel(targets, async (target) => await namesAt(api, target, [])).catch(() => undefined);
}

/** Whether a target is parts: `/pipelines.stages`. */
const isPart = (target: Collection): boolean => collectionAndPart(target).length > 1;

/**
 * The records with the names of linked records beside their ids. Names that the execution has already read cost nothing,
 * others one request per hundred; a name that the credential may not read is left out.
 *
 * @param isChosen whether the user wants names at any cost: otherwise, a record type that takes more than one request has none
 */
export async function withLinkedNames(
	api: Connection, fields: LinkFields, records: IDataObject[], isChosen: boolean,
): Promise<IDataObject[]> {
	const links = namedLinks(fields);
	const idsByTarget = new Map<Collection, Set<string>>();
	for (const { name, target } of links) {
		const ids = getOrCreate(idsByTarget, target, () => new Set<string>());
		for (const { [name]: value } of records) addIds(ids, value);
	}
	const readNames = async ([target, ids]: [Collection, Set<string>]) => await rememberNamesOf(api, target, ids, isChosen);
	// With the stages of all pipelines, the pipelines are read.
	await inParallel([...idsByTarget].filter(([target]) => isPart(target)), readNames);
	await inParallel([...idsByTarget].filter(([target]) => !isPart(target)), readNames);
	const byField = new Map(links.map((link) => [link.name, { ...link, names: rememberedNames(api, link.target) }]));
	return records.map((record) => {
		const named: IDataObject = {};
		// A loop, because it runs for 100,000 records.
		for (const name of Object.keys(record)) {
			const value = record[name];
			setMember(named, name, value);
			const link = byField.get(name);
			if (!link) continue;
			// A table has the columns of its first record.
			if (value === null) setMember(named, link.nameField, null);
			const names = Array.isArray(value) ? value.map((id) => link.names.get(String(id))) : link.names.get(String(value));
			const areKnown = Array.isArray(names) ? names.length > 0 && !names.includes(undefined) : names !== undefined;
			if (areKnown) setMember(named, link.nameField, names);
		}
		return named;
	});
}

/** Reads the names of those of these IDs whose names are not read yet. A notice says which are left out. */
async function rememberNamesOf(api: Connection, target: Collection, ids: Set<string>, isChosen: boolean): Promise<void> {
	const names = rememberedNames(api, target);
	const unknownIds = [...ids].filter((id) => !names.has(id));
	if (unknownIds.length === 0) return;
	const requests = isChosen ? 1 : await requestsFor(api, target, unknownIds.length);
	if (requests > 1) return void api.notices.add(namesLeftOut(target, requests));
	try {
		for (const [id, name] of (await namesAt(api, target, unknownIds)) ?? []) if (name !== undefined) names.set(id, name);
	} catch (error) {
		// The records were read or written: names are a convenience.
		if (isChosen || !isAnsweredWith(error, ...notReadable)) api.notices.add(namesNotRead(target, error as Error));
	}
}

/** How many requests the names of these records take; parts are read with all records, which are few. */
async function requestsFor(api: Connection, target: Collection, count: number): Promise<number> {
	if (isPart(target)) return 1;
	const list = (await api.describe(target))?.list;
	return list ? Math.ceil(count / Math.min(maxIds, Math.max(1, valuesPerRequest(list, idField)))) : 0;
}

const namesLeftOut = (target: Collection, requests: number): string =>
	`The names of ${collectionName(target)} were left out, because they take ${requests} requests. To add them, use the option Names of Linked Records.`;

const namesNotRead = (target: Collection, { message }: Error): string => `The names of ${collectionName(target)} were left out: ${message}`;
