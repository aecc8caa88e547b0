import { NodeApiError, type IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { findRecord } from '../api/fetchRecord';
import { exactNumber } from '../base/numbers';
import { path } from '../api/http/path';
import { readPages } from '../api/lists/pages';
import { isDigits, isWellFormed, notWellFormed } from '../fields/conversions';
import type { ComparedField } from '../fields/keys';
import { inParallel } from '../api/inParallel';
import { foldedText, visibleText } from '../values/foldedText';
import { failureOfValue, lookUp, outcomeOfIds, valuesPerRequest, type Collection, type LookedUp, type LookUpOutcome } from './lookUp';
import { hasText, identifyingFields, mayBeId, parseName } from './nameSyntax';
import { rememberNames } from './rememberedNames';

/** The outcome of looking up a name: the id of the record, or several ids. */
export type NamedId = LookUpOutcome<unknown>;

/** The field that full-text search cannot find, since its values are not words. */
const unsearched = 'external_id';

/** Patterns that a value of a field must match: services refuse others, and too many refusals end the look-up. */
const shapes: Record<string, RegExp> = { email: /@/, domain: /\./ };

/** Maximum records to read at once. A collection of fewer is read as a whole, and contains every name. */
const maxRead = 500;

/** A name to look up. */
interface NameToFind {
	/** The text as entered, which may include the field: `domain:acme.example`. */
	text: string;
	name: string;
	/** The fields that may have it. */
	fields: string[];
}

interface NamedCollection extends Collection {
	/** Its name: `companies`. */
	collection: string;
}

/**
 * Looks up the records of a collection by their names in every field that may contain one: by full-text search if the
 * list supports it, and by the filter of each field if the search finds nothing. If a filter refuses a value, no record
 * has the value in that field.
 *
 * @param isFilter whether a name that no record has may be an id in any form
 */
export async function lookUpNames(api: Connection, collection: string, names: string[], isFilter: boolean): Promise<Map<string, NamedId>> {
	const description = await api.describe(`/${collection}`);
	api.requireDescription(collection);
	const list = description?.list;
	if (!list && !isFilter) return new Map();
	if (!list) throw new Error('the CRM does not describe how to list them.');
	const fieldNames = new Set(description.fields.map(({ name }) => name));
	const keys = fieldNames.size === 0 ? identifyingFields : identifyingFields.filter((key) => fieldNames.has(key));
	const namesToFind = names.map((text): NameToFind => {
		const { field, name } = parseName(text);
		return { text, name, fields: field === undefined ? ['id', ...keys] : [field] };
	});
	const fields = keys.filter((key) => key === 'name');
	const target: NamedCollection = { api, collection, path: `/v1/${collection}`, list, filters: list.filters, fields };
	const first = await candidatesIn(target, {});
	const found = first.isWhole
		? namesToFind.map((nameToFind) => findIn(first, nameToFind))
		: await lookUpEach(target, namesToFind, typeof first.records[0]?.id === 'number');
	const outcomes = await inParallel(namesToFind, async ({ text, name, fields }, i): Promise<[string, NamedId]> => {
		const outcome = found[i]!;
		const mayHaveId = isFilter && !first.isWhole && fields.includes('id') && !('found' in outcome || 'several' in outcome);
		return [text, mayHaveId ? await findById(target, name, outcome) : outcome];
	});
	return new Map(outcomes);
}

/** @param hasNumbers whether ids are numbers */
async function lookUpEach(target: NamedCollection, namesToFind: NameToFind[], hasNumbers: boolean): Promise<NamedId[]> {
	const { search } = target.list;
	const searched = await inParallel(namesToFind, async (nameToFind) =>
		search === undefined ? undefined : await searchFor(target, search, nameToFind),
	);
	const byField = new Map<string, LookedUp>();
	for (const name of identifyingFields) {
		if (valuesPerRequest(target, { name }) === 0) continue;
		const field: ComparedField = { name, path: [name], kind: 'text', lowerCase: [''] };
		const names = namesToFind.filter((nameToFind, i) => isLookedUpIn(nameToFind, name, searched[i])).map(({ name: text }) => text);
		byField.set(name, await lookUp(target, field, names).catch(unlessAnswered));
	}
	return namesToFind.map((nameToFind, i) => {
		const lookUps = [...byField].filter(([field]) => isLookedUpIn(nameToFind, field, searched[i]));
		const outcomes = lookUps.map(([, outcomeOf]) => idsOf(target, outcomeOf(nameToFind.name), hasNumbers));
		return combineOutcomes(searched[i] ? [searched[i], ...outcomes] : outcomes);
	});
}

/** Whether a name is looked up in a field: after a successful search, only in the field that the search does not cover. */
const isLookedUpIn = ({ name, fields }: NameToFind, field: string, searched: NamedId | undefined): boolean =>
	fields.includes(field) && (shapes[field]?.test(name) ?? true) && (field === unsearched || !isFound(searched));

/** The ids of the outcome, as numbers if the service writes them so: a look-up returns ids as text. */
function idsOf({ api, collection }: NamedCollection, outcome: LookUpOutcome, areNumbers: boolean): NamedId {
	const idOf = (record: { id: string; name?: unknown }): unknown => {
		const id = areNumbers ? (exactNumber(record.id) ?? record.id) : record.id;
		rememberNames(api, collection, [{ ...record, id }]);
		return id;
	};
	if ('found' in outcome) return { found: idOf(outcome.found) };
	return 'several' in outcome ? { several: outcome.several.map(idOf) } : outcome;
}

const isFound = (outcome: NamedId | undefined): boolean => outcome !== undefined && ('found' in outcome || 'several' in outcome);

/** Combines the outcomes: those with records take precedence. */
function combineOutcomes(outcomes: NamedId[]): NamedId {
	const idsIn = (outcome: NamedId): unknown[] => {
		if ('found' in outcome) return [outcome.found];
		return 'several' in outcome ? outcome.several : [];
	};
	const ids = new Set(outcomes.flatMap(idsIn));
	const isUnique = ids.size === 1 && !outcomes.some((outcome) => 'several' in outcome);
	if (ids.size > 0) return isUnique ? { found: [...ids][0] } : { several: [...ids] };
	const isAnswered = outcomes.some((outcome) => 'notFound' in outcome);
	return isAnswered ? { notFound: true } : (outcomes[0] ?? { failed: new Error('the CRM has no search and no filter for it.') });
}

/** A filter that the service ignores fails only its names; other failures affect all names. */
function unlessAnswered(error: Error): LookedUp {
	if (error instanceof NodeApiError) throw error;
	return () => ({ failed: error });
}

/** @returns undefined if the search finds more than can be read */
async function searchFor(target: NamedCollection, search: string, nameToFind: NameToFind): Promise<NamedId | undefined> {
	if (!isWellFormed(nameToFind.name)) return { refused: new Error(notWellFormed(nameToFind.name)) };
	const searching = candidatesIn(target, { [search]: visibleText(nameToFind.name) });
	const refusal = await failureOfValue(searching);
	if (refusal) return refusal;
	const candidates = await searching;
	return candidates.isWhole ? findIn(candidates, nameToFind) : undefined;
}

/** A value that is not a name may be an id in any form. */
async function findById({ api, path: collectionPath }: Collection, id: string, otherwise: NamedId): Promise<NamedId> {
	// A service with numbers as ids may read `1e1` as 10.
	const isAnotherNumber = !isDigits(id) && !Number.isNaN(Number(id));
	if (!mayBeId(id) || isAnotherNumber) return otherwise;
	const reading = findRecord(api, collectionPath + path`/${id}`);
	if (await failureOfValue(reading)) return otherwise;
	const record = await reading;
	return record ? { found: record.id } : otherwise;
}

interface Candidates {
	records: IDataObject[];
	/** Whether the list is complete. */
	isWhole: boolean;
}

async function candidatesIn(
	{ api, collection, path: collectionPath, list }: NamedCollection,
	query: Record<string, string>,
): Promise<Candidates> {
	const records: IDataObject[] = [];
	let isWhole = true;
	for await (const page of readPages(api.send, { path: collectionPath, list, query, limit: maxRead })) {
		records.push(...page.records);
		rememberNames(api, collection, page.records);
		isWhole = page.next === undefined;
	}
	return { records, isWhole };
}

function findIn({ records }: Candidates, { fields, name }: NameToFind): NamedId {
	const word = foldedText(name);
	const isCalled = (record: IDataObject) =>
		fields.map((field) => record[field]).some((value) => hasText(value) && foldedText(value) === word);
	return outcomeOfIds([...new Set(records.filter(isCalled).map(({ id }) => id))]);
}
