import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { parseJson } from '../api/http/json';
import { readPages } from '../api/lists/pages';
import type { Field } from '../api/openapi/fields';
import { withReplacedIds } from '../api/openapi/links';
import type { ListDescription } from '../api/openapi/listing';
import type { FieldValue } from './objectFields';
import { apiValue, matchesPattern } from './values';

/**
 * Replaces names by ids in the value of a field that refers to other records.
 *
 * @throws Error in the user's words where no record has that name, or several have it
 */
export type ReferenceIds = (field: Field, value: unknown) => unknown;

/** Fields by which a record is known; all of them, as any record may have any. */
export const identifyingFields = ['name', 'title', 'label', 'domain', 'email', 'external_id'];

/** The one that is no word, which a full-text search does not find. */
const unsearched = 'external_id';

/** Records that are read at once: of fewer, one request finds all names. */
const mostRead = 500;

/**
 * Looks up records named by name, domain or email instead of an id. A value that can
 * only be an id is not looked up; one that may be either, and is no record's name, is sent as it is,
 * and the service refuses it where it is no id either.
 *
 * @param given the values of fields that refer to other records; each name is looked up once, and
 * found once in an execution; `external_id:100123` is looked up as that field only, and is no id
 */
export async function findReferences(api: Connection, given: FieldValue[]): Promise<ReferenceIds> {
	const names = new Map<string, Set<string>>();
	for (const [field, value] of given) {
		withReplacedIds(field, idsOf(field, value), (reference, id) => {
			if (isName(field, id)) names.set(reference, (names.get(reference) ?? new Set()).add(id.trim()));
			return id;
		});
	}

	const ids = foundBefore.get(api) ?? new Map<string, Map<string, Finding>>();
	foundBefore.set(api, ids);
	const found = new Map<string, Map<string, Finding>>();
	for (const [reference, wanted] of names) {
		const known = ids.get(reference) ?? new Map<string, Finding>();
		ids.set(reference, known);
		const findings = await findByNames(api, reference, [...wanted].filter((name) => !known.has(name)));
		for (const [name, finding] of findings) if ('id' in finding) known.set(name, finding);
		found.set(reference, new Map([...known, ...findings]));
	}

	const idOf = (field: Field, reference: string, value: unknown): unknown => {
		const finding = found.get(reference)?.get(String(value).trim());
		if (finding === undefined) return value;
		if ('id' in finding) return finding.id;
		if ('notFound' in finding && mayBeId(String(value))) return value;
		throw new Error(refusal(field, reference, String(value), finding));
	};
	return (field, value) => {
		if (!refersToRecords(field)) return value;
		return withReplacedIds(field, value, (reference, id) => idOf(field, reference, id));
	};
}

/** Whether the values of a field are ids of other records, and not of their parts. */
export const refersToRecords = ({ reference, part, linksTo }: Field): boolean =>
	(reference !== undefined && part === undefined) || linksTo !== undefined;

/** Ids that an execution has found: the rows of a file are looked up some thousand at a time. */
const foundBefore = new WeakMap<Connection, Map<string, Map<string, Finding>>>();

/** Requests at the same time. */
const atOnce = 5;

/** The outcome of a look-up. */
type Finding = { id: unknown } | { notFound: true } | { several: number } | { failed: string };

/** The value of a field as it has ids in it; undefined where it can have no names. */
function idsOf(field: Field, value: unknown): unknown {
	if (!refersToRecords(field)) return undefined;
	if (field.linksTo) return typeof value === 'string' ? parseJson(value) : value;
	if (field.kind !== 'list') return ['text', 'any'].includes(field.kind) ? value : undefined;
	try {
		return apiValue(field, value, 'utc');
	} catch {
		// The item fails with this error when its turn comes.
		return undefined;
	}
}

/** Whether a value is a name, or may be one. */
export function isName(field: Field, value: unknown): value is string {
	if (!hasText(value)) return false;
	return !(matchesPattern(field, value.trim()) ?? isIdShaped(value.trim()));
}

/** Whether a value is a text with anything in it. */
export const hasText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** Numbers, UUIDs, and words with a prefix such as `com_01jz8q4t6v`: what services use for ids. */
function isIdShaped(value: string): boolean {
	return /^(\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{1,16}[_-](?=\w*\d)\w{6,}|(?=\w*\d)\w{15,})$/i.test(value);
}

/** A name that says which field it is of, such as `external_id:100123`. */
const withField = new RegExp(`^(${identifyingFields.join('|')}):\\s*(\\S.*)$`, 's');

/** The name in a text, and the field it is of, where the text says so. */
export function parseName(text: string): { field?: string; name: string } {
	const [, field, name] = withField.exec(text.trim()) ?? [];
	return field === undefined || name === undefined ? { name: text.trim() } : { field, name };
}

/** The text that is read as this name: it says its field where the name alone would be read as an id. */
export const textOfName = (field: string, name: string): string =>
	isIdShaped(name) || withField.test(name) ? `${field}:${name}` : name;

/** Whether a text can be an id in some service: one word of plain characters. */
export const mayBeId = (value: string): boolean => /^[\w-]{1,64}$/.test(value);

async function findByNames(api: Connection, reference: string, names: string[]): Promise<Map<string, Finding>> {
	const description = await api.describe(`/${reference}`);
	const { list } = description ?? {};
	if (!list || names.length === 0) return new Map();
	const known = new Set(description?.fields.map(({ name }) => name));
	const keys = known.size === 0 ? identifyingFields : identifyingFields.filter((key) => known.has(key));
	const findings = new Map<string, Finding>();
	try {
		const first = await firstPage(api, reference, list, {});
		for (let from = 0; from < names.length; from += atOnce) {
			const some = names.slice(from, from + atOnce).map(async (text) => {
				const { field, name } = parseName(text);
				const places = field === undefined ? ['id', ...keys] : [field];
				const page = first.isWhole ? first : await candidates(api, reference, list, places, name);
				findings.set(text, findIn(page, places, name));
			});
			await Promise.all(some);
		}
	} catch (error) {
		for (const name of names) {
			if (findings.has(name)) continue;
			if (!mayBeId(name)) findings.set(name, { failed: (error as Error).message });
		}
	}
	return findings;
}

interface Candidates {
	records: IDataObject[];
	/** Whether there are no others. */
	isWhole: boolean;
}

/** The records that may have a name: by full text where the list has it, else by each field but the id. */
async function candidates(
	api: Connection,
	reference: string,
	list: ListDescription,
	places: string[],
	name: string,
): Promise<Candidates> {
	if (list.search !== undefined) {
		const page = await firstPage(api, reference, list, { [list.search]: name });
		const isIdFilter = list.filters.some((filter) => filter.name === unsearched && places.includes(unsearched));
		if (page.isWhole && (!isIdFilter || 'id' in findIn(page, places, name))) return page;
		if (page.isWhole) return await firstPage(api, reference, list, { [unsearched]: name });
	}
	const filters = list.filters.filter((filter) => filter.name !== 'id' && places.includes(filter.name));
	const pages = await Promise.all(
		filters.map(async (filter) => await firstPage(api, reference, list, { [filter.name]: name })),
	);
	return {
		records: pages.flatMap(({ records }) => records),
		isWhole: pages.length > 0 && pages.every(({ isWhole }) => isWhole),
	};
}

async function firstPage(
	{ send }: Connection,
	reference: string,
	list: ListDescription,
	query: Record<string, string>,
): Promise<Candidates> {
	const walk = { path: `/v1/${reference}`, list, query, limit: mostRead };
	const records: IDataObject[] = [];
	let isWhole = true;
	for await (const page of readPages(send, walk)) {
		records.push(...page.records);
		isWhole = page.next === undefined;
	}
	return { records, isWhole };
}

function findIn({ records, isWhole }: Candidates, places: string[], name: string): Finding {
	const wanted = name.toLowerCase();
	const isCalled = (record: IDataObject) =>
		places.map((place) => record[place]).some((value) => hasText(value) && value.trim().toLowerCase() === wanted);
	const ids = new Set(records.filter(isCalled).map(({ id }) => id));
	if (ids.size > 1) return { several: ids.size };
	if (ids.size === 0) return { notFound: true };
	// Without all candidates, another record may have the same name.
	return isWhole ? { id: [...ids][0] } : { several: 2 };
}

function refusal({ label }: Field, reference: string, name: string, finding: Finding): string {
	const place = `${label}: "${name}"`;
	if ('failed' in finding) return `${place} could not be looked up in ${reference}: ${finding.failed}`;
	if ('several' in finding) {
		return `${place} may match several records of ${reference}. Use the ID of the right one.`;
	}
	return `${place} does not match any record of ${reference}. Correct it, create the record first, or use its ID.`;
}
