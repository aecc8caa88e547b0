import { NodeApiError, type IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { collectionName, type Collection } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { readPages } from '../api/lists/pages';
import { onceFor } from '../base/maps';
import { exactNumber } from '../base/numbers';
import { ownMember } from '../base/ownMembers';
import { isWellFormed, notWellFormed } from '../fields/fieldKinds';
import type { ComparedField } from '../fields/keys';
import { foldedText, normalizedName, visibleText } from '../values/foldedText';
import { failureOfValue, foundAmong, foundIn, lookUp, valuesPerRequest, type LookedUp, type LookUpResult, type RecordList } from './lookUp';
import { hasText, identifierForms, identifyingFields, mayBeAddress, parseName, possibleForms, rememberNames } from './names';

/** The result of looking up a name: the id of the record, or several ids. */
export type NameResult = LookUpResult<unknown>;

/** The field that full-text search cannot find, since its values are not words. */
const unsearched = 'external_id';

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
 * @param areNumbers whether ids are numbers: a look-up returns them as text
 */
async function lookUpEach(searched: RecordList, namesToFind: NameToFind[], areNumbers: boolean): Promise<NameResult[]> {
	const searches = await inParallel(namesToFind, async (nameToFind) => {
		const results = await searchFor(searched, nameToFind);
		return { ...nameToFind, results: [...results], isFound: results.flatMap(foundIn).length > 0 };
	});
	for (const field of identifyingFields) {
		if (valuesPerRequest(searched, { name: field }) === 0) continue;
		const sought = searches.filter(({ name, fields, isFound }) =>
			fields.includes(field) && (possibleForms[field]?.test(name) ?? true) && (field === unsearched || !isFound));
		const comparedField: ComparedField = { name: field, path: [field], kind: 'text', lowerCase: [''] };
		const lookedUp = await lookUp(searched, comparedField, sought.map(({ name }) => name)).catch(unlessAnswered);
		const form = ownMember(identifierForms, field) ?? foldedText;
		for (const { name, results } of sought) {
			const result = lookedUp(name);
			const found = foundIn(result).filter((record) => form(String(record[field])) === form(name));
			// A service may ignore the case of an ID.
			results.push(foundIn(result).length === 0 ? result : foundAmong(found));
		}
	}
	return searches.map(({ results }): NameResult => {
		const idOf = ({ id }: IDataObject) => (areNumbers ? (exactNumber(String(id)) ?? id) : id);
		const records = results.flatMap(foundIn).map((record) => ({ ...record, id: idOf(record) }));
		rememberNames(searched.api, searched.path, records);
		if (records.length > 0) return foundAmong([...new Set(records.map(({ id }) => id))]);
		if (results[0] !== tooMany && results.some((result) => 'notFound' in result)) return { notFound: true };
		return (results[0] as NameResult | undefined) ?? { failed: new Error('the CRM has no search and no filter for it.') };
	});
}

/** A filter that the service ignores fails only its names; other failures affect all names. */
function unlessAnswered(error: Error): LookedUp {
	if (error instanceof NodeApiError) throw error;
	return () => ({ failed: error });
}

/** A filter by the exact name does not tell that no record has the name in another notation. */
const tooMany = { failed: new Error(`more than ${maxRead} records contain it`) };

/**
 * Searches for a name; if too many records contain it, among those that begin with it.
 *
 * @returns no result if the list has no search, or if that finds too many and other filters find the name in any notation
 */
async function searchFor(searched: RecordList, nameToFind: NameToFind): Promise<Array<LookUpResult<IDataObject>>> {
	const { search, filters } = searched.list;
	if (search === undefined) return [];
	if (!isWellFormed(nameToFind.name)) return [{ refused: new Error(notWellFormed(nameToFind.name)) }];
	const foundBy = async (parameter: string) => {
		const candidates = await candidatesIn(searched, { [parameter]: visibleText(nameToFind.name) });
		return candidates.isWhole ? foundAmong(recordsCalled(candidates, nameToFind)) : undefined;
	};
	const result = await foundBy(search).catch(failureOfValue);
	const freeTexts = nameToFind.fields.filter((field) => !['id', unsearched, ...Object.keys(possibleForms)].includes(field));
	if (result || freeTexts.length === 0) return result ? [result] : [];
	const beginning = `${freeTexts[0]}[starts_with]`;
	const isFiltered = freeTexts.length === 1 && filters.some(({ name }) => name === beginning);
	const begun = isFiltered ? await foundBy(beginning).catch(failureOfValue) : undefined;
	// Another notation of the name may begin otherwise: with an accent, or with two spaces between its words.
	return [begun && foundIn(begun).length > 0 ? begun : tooMany];
}

interface Candidates {
	records: IDataObject[];
	isWhole: boolean;
}

/** A record of each collection that has more than can be read, which tells whether its ids are numbers. */
const largeCollections = onceFor<Connection, { first?: Candidates }>(() => ({}));

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
		isWhole = page.next === undefined && !page.isCut;
	}
	return { records, isWhole };
}

function recordsCalled({ records }: Candidates, { fields, name }: NameToFind): IDataObject[] {
	const called = (foldName: (text: string) => string) => records.filter((record) => fields.some((field) => {
		const [value, fold] = [record[field], ownMember(identifierForms, field) ?? foldName];
		return hasText(value) && fold(value) === fold(name);
	}));
	const found = called(foldedText);
	// A name with the same accents is the right one.
	return found.length > 0 || mayBeAddress(name, fields) ? found : called(normalizedName);
}
