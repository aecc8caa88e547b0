import { breaksRule } from '../api/http/rules';
import { isAnsweredWith } from '../api/record';
import { chunks } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { inParallel } from '../api/inParallel';
import { wholePath, type Query } from '../api/http/path';
import { DividedValue, filterQuery } from '../api/lists/filterQuery';
import { readPages } from '../api/lists/pages';
import { refusedFilterValue } from '../api/http/statuses';
import { isWellFormed, notWellFormed } from '../fields/conversions';
import type { Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import { matchKey, valueIn, type ComparedField } from '../fields/keys';
import { trimmed } from '../values/foldedText';
import { identified, withFields, type IdentifiedRecord, type RecordList } from './recordList';

export type LookUpResult<Found = IdentifiedRecord> =
	| { found: Found }
	| { several: Found[] }
	| { notFound: true }
	/** The service has no filter for the field, does not respond, or returns other records. */
	| { failed: Error }
	/** The service does not accept this value in the filter, or the value cannot be sent. */
	| { refused: Error };

/** The result of finding these for one value. */
export function foundAmong<Found>(all: Found[]): LookUpResult<Found> {
	if (all.length === 0) return { notFound: true };
	return all.length === 1 ? { found: all[0]! } : { several: all };
}

/** All that a look-up has found, one or several. */
export const foundIn = <Found>(result: LookUpResult<Found>): Found[] =>
	('several' in result ? result.several : 'found' in result ? [result.found] : []);

/** The result for a looked-up value, or one that the service considers equal. */
export type LookedUp = (value: unknown) => LookUpResult;

/** Maximum ids in one request, which limits the length of the URL. */
export const maxIds = 100;
/** Maximum values of another filter in one request. */
const maxValues = 50;

/** After this many values that are refused alone, and no accepted one, the filter itself counts as refused. */
const maxRefused = 10;

const filterFor = ({ filters }: Pick<RecordList, 'filters'>, { name }: Pick<Field, 'name'>): Field | undefined =>
	filters.find((filter) => filter.name === (name === 'id' ? 'ids' : name));

/** How many values of a field one request can look up; 0 if the list has no filter for the field. */
export function valuesPerRequest(recordList: Pick<RecordList, 'filters'>, field: Pick<Field, 'name'>): number {
	const filter = filterFor(recordList, field);
	if (!filter || valueShape(filter) !== 'list') return filter ? 1 : 0;
	return field.name === 'id' ? maxIds : maxValues;
}

/**
 * Looks records up by values of a field. To isolate a value that the service refuses, the request is divided
 * until that value is alone.
 *
 * @param scope additional filters
 * @throws NodeApiError if the service fails for every value
 * @throws Error in the user's words if it returns records that do not match the filter
 */
export async function lookUp(recordList: RecordList, field: ComparedField, values: unknown[], scope: Query = {}): Promise<LookedUp> {
	const search: Search = { recordList, field, scope, found: new Map(), results: new Map(), hasAccepted: false, refusals: 0 };
	const requests = chunks([...textsToFind(search, values)], Math.max(1, valuesPerRequest(recordList, field)));
	// One after the other until the service accepts a value: then it is certain that it refuses values, and not the filter.
	while (!search.hasAccepted && !isFilterRefused(search) && requests.length > 0) {
		const [half, ...otherHalf] = await ask(search, requests.shift()!);
		if (half) requests.unshift(half);
		requests.push(...otherHalf);
	}
	if (search.hasAccepted) await inParallel(requests, async (keys) => await askUntilAlone(search, keys));
	return (value) => {
		const key = matchKey(field, value);
		if (key === undefined) return { notFound: true };
		const records = search.found.get(key);
		if (records) return foundAmong([...records.values()]);
		const result = isFilterRefused(search) ? undefined : search.results.get(key);
		return result ?? { failed: new Error(`The CRM cannot find records of ${wholePath(recordList.path)} by ${field.name}.`) };
	};
}

/** A look-up, and what the service has answered so far. */
interface Search {
	recordList: RecordList;
	field: ComparedField;
	scope: Query;
	/** By key, then by id. */
	found: Map<string, Map<string, IdentifiedRecord>>;
	/** Of the keys for which the service has answered, or whose value cannot be sent. */
	results: Map<string, LookUpResult>;
	/** Whether it has accepted a value: then it takes the filter. */
	hasAccepted: boolean;
	/** How many values it has refused alone. */
	refusals: number;
}

const isFilterRefused = ({ hasAccepted, refusals }: Search): boolean => !hasAccepted && refusals >= maxRefused;

/** The texts by which to look for each key. A service that does not normalize or trim stores the text as written. */
function textsToFind({ recordList, field, results }: Search, values: unknown[]): Map<string, Set<string>> {
	const textsByKey = new Map<string, Set<string>>();
	const isFilterable = filterFor(recordList, field) !== undefined;
	for (const value of values) {
		const key = matchKey(field, value);
		if (key === undefined) continue;
		const text = String(value);
		if (!isWellFormed(text)) results.set(key, { refused: new Error(notWellFormed(text)) });
		else if (isFilterable) getOrCreate(textsByKey, key, () => new Set<string>()).add(text).add(trimmed(text.normalize('NFC')));
	}
	return textsByKey;
}

/** A key, and the texts by which to look for it. */
type Sought = [key: string, texts: Set<string>];

/** Asks for keys, and notes the results. @returns the halves to ask for if one of several values is refused */
async function ask(search: Search, keys: Sought[]): Promise<Sought[][]> {
	const problem = await readMatches(search, keys).then(() => undefined, failureOfValue);
	if (problem && keys.length > 1) return chunks(keys, Math.ceil(keys.length / 2));
	if (!problem) search.hasAccepted = true;
	else if ('refused' in problem) search.refusals += 1;
	for (const [key] of keys) search.results.set(key, problem ?? { notFound: true });
	return [];
}

async function askUntilAlone(search: Search, keys: Sought[]): Promise<void> {
	for (const half of await ask(search, keys)) await askUntilAlone(search, half);
}

async function readMatches({ recordList, field, scope, found }: Search, sought: Sought[]): Promise<void> {
	const { api, path, list, fields } = recordList;
	const filter = filterFor(recordList, field)!;
	const keys = new Set(sought.map(([key]) => key));
	const texts = sought.flatMap(([, each]) => [...each]);
	for (const filterValue of valueShape(filter) === 'list' ? [texts] : texts) {
		const query = withFields(list, { ...scope, ...filterQuery(filter, filterValue) } as Query, [...fields, field.path[0] ?? '']);
		for await (const { records } of readPages(api.send, { path, list, query })) {
			for (const record of identified(records)) {
				const key = matchKey(field, valueIn(record, field)) ?? '';
				if (!keys.has(key)) throw new Error(ignored(field.name, path));
				getOrCreate(found, key, () => new Map<string, IdentifiedRecord>()).set(record.id, record);
			}
		}
	}
}

/** The result for a value whose request failed because of it. @throws errors that would affect other values, too */
export function failureOfValue(error: Error): { refused: Error } | { failed: Error } {
	if (error instanceof DividedValue) return { failed: error };
	if (isAnsweredWith(error, ...refusedFilterValue)) return { refused: error };
	throw error;
}

const ignored = (name: string, path: string) =>
	`The CRM returned records of ${wholePath(path)} that do not match the filter ${name}, so the node cannot use it. ${breaksRule(11)} Use another field, and report this to the CRM’s support.`;
