import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { findRecord } from '../api/find';
import { path } from '../api/http/path';
import { parseJson } from '../api/http/json';
import { readPages } from '../api/lists/pages';
import type { Field } from '../fields/field';
import { fieldKinds } from '../fields/fieldKinds';
import { refersToRecords, withReplacedIds } from '../api/openapi/linkFields';
import type { ListDescription } from '../api/openapi/listing';
import { inParallel, aboutValues, type LookUpOutcome } from './lookUp';
import { hasText, identifyingFields, isName, mayBeId, namesIn, parseName, wordOf } from './names';
import type { FieldValue } from './objectFields';
import { isWellFormed, notWellFormed } from '../fields/conversions';
import { rememberNames } from './recordNames';

/**
 * Replaces names by ids in the value of a field that refers to other records.
 *
 * @throws Error in the user's words where no record has that name, or several have it
 */
export type ReferenceIds = (field: Field, value: unknown) => unknown;

/** Not a word, so full-text search cannot find it. */
const unsearched = 'external_id';

/** Records that are read at once: of fewer, one request finds all names. */
const maxRead = 500;

/**
 * What a value is for that may be an id, and is no record's name: the service is left to refuse it where
 * it is written. As a filter it would find nothing, silently, and is refused here.
 */
export type ReferenceUse = 'written' | 'filter';

/**
 * Looks up records named by name, domain or email instead of an id. A value that can only be an id is
 * not looked up.
 *
 * @param given the values of fields that refer to other records; each name is looked up once, and
 * found once in an execution; `external_id:100123` is looked up as that field only, and `id:acme` is an id
 */
export async function findReferences(
	api: Connection,
	given: FieldValue[],
	use: ReferenceUse = 'written',
): Promise<ReferenceIds> {
	const names = new Map<string, Set<string>>();
	for (const [field, value] of given) {
		withReplacedIds(field, idsOf(field, value), (reference, id) => {
			if (isName(field, id) && parseName(id).field !== 'id') names.set(reference, (names.get(reference) ?? new Set()).add(id.trim()));
			return id;
		});
	}

	const ids = foundBefore.get(api) ?? new Map<string, Map<string, Finding>>();
	foundBefore.set(api, ids);
	const outcomes = new Map<string, Map<string, Finding>>();
	for (const [reference, wanted] of names) {
		const known = ids.get(reference) ?? new Map<string, Finding>();
		ids.set(reference, known);
		const found = await findByNames(api, reference, [...wanted].filter((name) => !known.has(name)), use);
		for (const [name, outcome] of found) if ('found' in outcome) known.set(name, outcome);
		outcomes.set(reference, new Map([...known, ...found]));
	}

	const idOf = (field: Field, reference: string, value: unknown): unknown => {
		const text = String(value).trim();
		const { field: place, name } = parseName(text);
		if (place === 'id') return name;
		const outcome = outcomes.get(reference)?.get(text);
		if (outcome === undefined) return value;
		if ('found' in outcome) return outcome.found;
		if (use === 'written' && !('several' in outcome) && mayBeId(text)) return value;
		throw new Error(wordsOf(field, reference, text, outcome, use));
	};
	return (field, value) => {
		if (!refersToRecords(field)) return value;
		return withReplacedIds(field, value, (reference, id) => idOf(field, reference, id));
	};
}

/** Ids that an execution has found: the rows of a file are looked up some thousand at a time. */
const foundBefore = new WeakMap<Connection, Map<string, Map<string, Finding>>>();

/** The id of the record that has a name, or those of several. */
type Finding = LookUpOutcome<unknown>;

/** The value of a field as it has ids in it; undefined where it can have no names. */
function idsOf(field: Field, value: unknown): unknown {
	if (!refersToRecords(field)) return undefined;
	if (field.linksTo) return typeof value === 'string' ? parseJson(value) : value;
	return fieldKinds[field.kind].mayHold.includes('names') ? namesIn(field, value) : undefined;
}

/** The outcome of looking names up in a collection. */
async function findByNames(
	api: Connection,
	reference: string,
	names: string[],
	use: ReferenceUse,
): Promise<Map<string, Finding>> {
	const outcomes = new Map<string, Finding>();
	if (names.length === 0) return outcomes;
	try {
		const description = await api.describe(`/${reference}`);
		api.requireDescription(reference);
		const list = description?.list;
		if (!list && use === 'written') return outcomes;
		if (!list) throw new Error('the service does not describe how to list them.');
		const known = new Set(description.fields.map(({ name }) => name));
		const keys = known.size === 0 ? identifyingFields : identifyingFields.filter((key) => known.has(key));
		const ask: Ask = async (query) => await candidatesIn(api, reference, list, query);
		const first = await ask({});
		await inParallel(names, async (text) => {
			const { field, name } = parseName(text);
			const places = field === undefined ? ['id', ...keys] : [field];
			const outcome = first.isWhole ? findIn(first, places, name) : await findByName(ask, list, places, name);
			const isUnknown = use === 'filter' && !first.isWhole && !('found' in outcome || 'several' in outcome);
			outcomes.set(text, isUnknown && places.includes('id') ? await findById(api, reference, name, outcome) : outcome);
		});
	} catch (error) {
		for (const name of names) if (!outcomes.has(name)) outcomes.set(name, { cannotBeAsked: error as Error });
	}
	return outcomes;
}

interface Candidates {
	records: IDataObject[];
	/** Whether there are no others. */
	isWhole: boolean;
}

/** Reads the records that a query lets through. */
type Ask = (query: Record<string, string>) => Promise<Candidates>;

/**
 * Finds a name in all places it may stand in: by full text where the list has it, and by each field that
 * the search does not find it in. A value that one of them refuses stands nowhere there.
 */
async function findByName(ask: Ask, list: ListDescription, places: string[], name: string): Promise<Finding> {
	if (!isWellFormed(name)) return { refused: new Error(notWellFormed(name)) };
	const refusals: Finding[] = [];
	const tried = async (filter: string): Promise<Candidates[]> => {
		const asked = ask({ [filter]: name });
		const refusal = await aboutValues(asked);
		if (refusal) refusals.push(refusal);
		return refusal ? [] : [await asked];
	};
	const byFields = async (fields: string[]) => (await Promise.all(fields.map(tried))).flat();
	const filters = list.filters.map((filter) => filter.name).filter((one) => one !== 'id' && places.includes(one));

	const [searched] = list.search === undefined ? [] : await tried(list.search);
	const isSearched = searched?.isWhole === true && !('notFound' in findIn(searched, places, name));
	const others = await byFields(isSearched ? filters.filter((one) => one === unsearched) : filters);
	const answers = [...(searched?.isWhole ? [searched] : []), ...others];
	if (answers.length > 0) {
		const records = answers.flatMap((one) => one.records);
		return findIn({ records, isWhole: answers.every(({ isWhole }) => isWhole) }, places, name);
	}
	return refusals[0] ?? { cannotBeAsked: new Error('the service has no search and no filter for it.') };
}

/** A value that is not a name may be an id in any form. */
async function findById(api: Connection, reference: string, id: string, otherwise: Finding): Promise<Finding> {
	if (!mayBeId(id)) return otherwise;
	const reading = findRecord(api, `/v1/${reference}${path`/${id}`}`);
	if (await aboutValues(reading)) return otherwise;
	const record = await reading;
	return record ? { found: record.id } : otherwise;
}

async function candidatesIn(
	api: Connection,
	reference: string,
	list: ListDescription,
	query: Record<string, string>,
): Promise<Candidates> {
	const walk = { path: `/v1/${reference}`, list, query, limit: maxRead };
	const records: IDataObject[] = [];
	let isWhole = true;
	for await (const page of readPages(api.send, walk)) {
		records.push(...page.records);
		rememberNames(api, reference, page.records);
		isWhole = page.next === undefined;
	}
	return { records, isWhole };
}

function findIn({ records, isWhole }: Candidates, places: string[], name: string): Finding {
	const wanted = wordOf(name);
	const isCalled = (record: IDataObject) =>
		places.map((place) => record[place]).some((value) => hasText(value) && wordOf(value) === wanted);
	const ids = [...new Set(records.filter(isCalled).map(({ id }) => id))];
	if (ids.length === 0) return { notFound: true };
	// Without all candidates, another record may have the same name.
	return isWhole && ids.length === 1 ? { found: ids[0] } : { several: ids };
}

function wordsOf({ label }: Field, reference: string, name: string, outcome: Finding, use: ReferenceUse): string {
	const place = `${label}: "${name}"`;
	if ('cannotBeAsked' in outcome) {
		return `${place} could not be looked up in ${reference}: ${outcome.cannotBeAsked.message} Use the ID; if this is the ID, write id:${name}.`;
	}
	if ('refused' in outcome) return `${place} could not be looked up in ${reference}: ${outcome.refused.message}`;
	if ('several' in outcome) {
		const ids = outcome.several.slice(0, 5).map(String).join(', ');
		return `${place} may match several records of ${reference}, such as ${ids}. Use the ID of the right one.`;
	}
	const otherwise = use === 'filter' ? 'or use the ID' : 'create the record first, or use its ID';
	return `${place} does not match any record of ${reference}. Correct it, ${otherwise}.`;
}
