import { NodeApiError, type IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { collectionName, type Collection } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { readPages } from '../api/lists/pages';
import { isLink } from '../api/openapi/linkFields';
import { keptFor } from '../base/maps';
import { exactNumber } from '../base/numbers';
import { isDigits, isWellFormed, notWellFormed } from '../fields/conversions';
import { type Field, matchesPattern } from '../fields/field';
import { isNumeric, valueKind } from '../fields/fieldKinds';
import type { ComparedField } from '../fields/keys';
import { isBlank } from '../values/blank';
import { foldedText, normalizedName, visibleText } from '../values/foldedText';
import { failureOfValue, foundAmong, foundIn, lookUp, valuesPerRequest, type LookedUp, type LookUpResult } from './lookUp';
import type { RecordList } from './recordList';

/** Fields that identify a record. All are tried, since a record may have any of them. */
export const identifyingFields = ['name', 'title', 'label', 'domain', 'email', 'external_id'];

/** Whether a value is or may be a name. If ids are numbers, that is any text but digits; otherwise, any text but a certain id. */
export function isName(field: Field, value: unknown): value is string {
	if (!hasText(value)) return false;
	if (hasNumbers(field)) return !isDigits(value);
	return !(matchesPattern(field, value.trim()) ?? certainId.test(value.trim()));
}

/** A number, a UUID, or a prefix and 26 characters. */
const certainId = /^(\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{1,16}_[0-9a-z]{26})$/i;

/** Whether a text looks like an id: a word with digits, such as `com_01jz8q4t6v`, which may also be a name: `Messe2024_Halle`. */
export const isIdShaped = (value: string): boolean =>
	certainId.test(value) || /^([a-z]{1,16}[_-](?=\w*\d)\w{6,}|(?=\w*\d)\w{15,})$/i.test(value);

/** Whether the values of a field are numbers. */
export function hasNumbers(field: Field): boolean {
	const kind = valueKind(field);
	return kind !== undefined && isNumeric({ kind });
}

/** Whether a value is a text that is not blank. */
export const hasText = (value: unknown): value is string => typeof value === 'string' && !isBlank(value);

/** A name with its field, such as `external_id:100123`, or an id, such as `id:acme`. */
const withField = new RegExp(`^(${['id', ...identifyingFields].join('|')}):\\s*(\\S.*)$`, 's');

/** The name in a text, and its field if the text names it. */
export function parseName(text: string): { field?: string; name: string } {
	const [, field, name] = withField.exec(text.trim()) ?? [];
	return field === undefined || name === undefined ? { name: text.trim() } : { field, name };
}

/** Whether a value is or may be a name, and does not say that it is an id. */
export const namesRecord = (field: Field, value: unknown): value is string => isName(field, value) && parseName(value).field !== 'id';

/** The text that limits a name to one field: another record may have it in another field. */
export const textOfName = (field: string, name: string): string => `${field}:${name}`;

/** A value picked from a list is an ID, even if it reads like a name: a link gets `id:acme`, any other field `acme`. */
export function asId(field: Field, picked: unknown): unknown {
	if (Array.isArray(picked)) return picked.map((value) => asId(field, value));
	if (!isName(field, picked)) return picked;
	const { field: nameField, name } = parseName(picked);
	if (!isLink(field)) return nameField === 'id' ? name : picked;
	return nameField === 'id' ? picked : textOfName('id', picked);
}

/** Whether a text can be an id of any service: one word of plain characters. */
export const mayBeId = (value: string): boolean => /^[\w-]{1,64}$/.test(value);

/** The names of records (`/pipelines`) or parts (`/pipelines.stages`) that were read through the connection, by id. */
export const rememberedNames = keptFor<Connection, Map<string, string>>(() => new Map());

export function rememberNames(api: Connection, target: Collection, records: Array<{ id?: unknown; name?: unknown }>): void {
	const names = rememberedNames(api, target);
	for (const { id, name } of records) if (hasText(name)) names.set(String(id), name);
}

/** The result of looking up a name: the id of the record, or several ids. */
export type NameResult = LookUpResult<unknown>;

/** The field that full-text search cannot find, since its values are not words. */
const unsearched = 'external_id';

/** Patterns that a value of a field must match: services refuse others, and too many refusals end the look-up. */
const possibleForms: Record<string, RegExp> = { email: /@/, domain: /\./ };

/** Maximum records to read at once. A collection of fewer is read as a whole, and contains every name. */
const maxRead = 500;

interface NameToFind {
	/** The text as entered, which may include the field: `domain:acme.example`. */
	text: string;
	name: string;
	/** The fields that may have it. */
	fields: string[];
}

/**
 * Looks up the records of a collection by their names in every field that may contain one: by full-text search if the
 * list supports it, and by the filter of each field if the search finds nothing. If a filter refuses a value, no record
 * has the value in that field.
 *
 * @throws Error if the service does not list the records
 */
export async function lookUpNames(api: Connection, collection: Collection, names: string[]): Promise<Map<string, NameResult>> {
	const description = await api.describe(collection);
	api.requireDescription(collectionName(collection));
	const list = description?.list;
	if (!list) throw new Error(`the CRM does not describe how to list ${collectionName(collection)}.`);
	const fieldNames = new Set(description.fields.map(({ name }) => name));
	const keys = fieldNames.size === 0 ? identifyingFields : identifyingFields.filter((key) => fieldNames.has(key));
	const namesToFind = names.map((text): NameToFind => {
		const { field, name } = parseName(text);
		return { text, name, fields: field === undefined ? ['id', ...keys] : [field] };
	});
	const fields = keys.filter((key) => key === 'name');
	const searched: RecordList = { api, path: collection, list, filters: list.filters, fields };
	const first = await recordsIfFew(searched);
	const found = first.isWhole
		? namesToFind.map((nameToFind) => foundAmong([...new Set(recordsCalled(first, nameToFind).map(({ id }) => id))]))
		: await lookUpEach(searched, namesToFind, typeof first.records[0]?.id === 'number');
	return new Map(namesToFind.map(({ text }, i) => [text, found[i]!]));
}

/**
 * Looks names up by search and by the filters of fields. The filters find what the search does not: `external_id` always,
 * and any other field if the search has no record of the name.
 *
 * @param hasNumbers whether ids are numbers: a look-up returns them as text
 */
async function lookUpEach(searched: RecordList, namesToFind: NameToFind[], hasNumbers: boolean): Promise<NameResult[]> {
	const results = await inParallel(namesToFind, async (nameToFind) => [...(await searchFor(searched, nameToFind))]);
	const isFound = results.map((found) => found.flatMap(foundIn).length > 0);
	for (const name of identifyingFields) {
		if (valuesPerRequest(searched, { name }) === 0) continue;
		const field: ComparedField = { name, path: [name], kind: 'text', lowerCase: [''] };
		const isAsked = ({ name: text, fields }: NameToFind, i: number) =>
			fields.includes(name) && (possibleForms[name]?.test(text) ?? true) && (name === unsearched || !isFound[i]);
		const lookedUp = await lookUp(searched, field, namesToFind.filter(isAsked).map(({ name: text }) => text)).catch(unlessAnswered);
		for (const [i, nameToFind] of namesToFind.entries()) if (isAsked(nameToFind, i)) results[i]!.push(lookedUp(nameToFind.name));
	}
	return results.map((found): NameResult => {
		const idOf = ({ id }: IDataObject) => (hasNumbers ? (exactNumber(String(id)) ?? id) : id);
		const records = found.flatMap(foundIn).map((record) => ({ ...record, id: idOf(record) }));
		rememberNames(searched.api, searched.path, records);
		if (records.length > 0) return foundAmong([...new Set(records.map(({ id }) => id))]);
		if (found.some((result) => 'notFound' in result)) return { notFound: true };
		return (found[0] as NameResult | undefined) ?? { failed: new Error('the CRM has no search and no filter for it.') };
	});
}

/** A filter that the service ignores fails only its names; other failures affect all names. */
function unlessAnswered(error: Error): LookedUp {
	if (error instanceof NodeApiError) throw error;
	return () => ({ failed: error });
}

/** @returns no result if the list has no search, or if that finds more than can be read */
async function searchFor(searched: RecordList, nameToFind: NameToFind): Promise<Array<LookUpResult<IDataObject>>> {
	const { search } = searched.list;
	if (search === undefined) return [];
	if (!isWellFormed(nameToFind.name)) return [{ refused: new Error(notWellFormed(nameToFind.name)) }];
	const candidates = await candidatesIn(searched, { [search]: visibleText(nameToFind.name) }).catch(failureOfValue);
	if (!('records' in candidates)) return [candidates];
	return candidates.isWhole ? [foundAmong(recordsCalled(candidates, nameToFind))] : [];
}

interface Candidates {
	records: IDataObject[];
	/** Whether the list is complete. */
	isWhole: boolean;
}

/** A record of each collection that has more than can be read, which tells whether its ids are numbers. */
const largeCollections = keptFor<Connection, { first?: Candidates }>(() => ({}));

/** The records of a collection if it is small. A large one is not read again for the next rows of a file. */
async function recordsIfFew(searched: RecordList): Promise<Candidates> {
	const large = largeCollections(searched.api, searched.path);
	if (large.first) return large.first;
	const candidates = await candidatesIn(searched, {});
	if (!candidates.isWhole) large.first = { ...candidates, records: candidates.records.slice(0, 1) };
	return candidates;
}

async function candidatesIn({ api, path, list }: RecordList, query: Record<string, string>): Promise<Candidates> {
	const records: IDataObject[] = [];
	let isWhole = true;
	for await (const page of readPages(api.send, { path, list, query, limit: maxRead })) {
		records.push(...page.records);
		rememberNames(api, path, page.records);
		isWhole = page.next === undefined;
	}
	return { records, isWhole };
}

function recordsCalled({ records }: Candidates, { fields, name }: NameToFind): IDataObject[] {
	const called = (fold: (text: string) => string) =>
		records.filter((record) => fields.map((field) => record[field]).some((value) => hasText(value) && fold(value) === fold(name)));
	const found = called(foldedText);
	// A name with the same accents is the right one.
	return found.length > 0 ? found : called(normalizedName);
}
