import { sleep } from 'n8n-workflow';

import { isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import type { Connection } from '../api/connection';
import { asSentence } from '../api/http/errorWords';
import { inParallel } from '../api/inParallel';
import { isAnsweredWith } from '../api/record';
import { oncePerConnection } from '../api/oncePerConnection';
import { isLink, isRecordLink, withReplacedIds } from '../api/openapi/linkFields';
import { apiValue } from '../fields/decideValue';
import { fieldNamed, idField, type ConvertedValue, type Field, type InputValue } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { fieldKinds, valueShape } from '../fields/fieldKinds';
import { lookUp, recordsById } from '../lookUp/lookUp';
import { recordsOfSource } from '../lookUp/sourceIds';
import { choiceOf, hasNumbers, identifyingFields, hasText, isIdShaped, isName, lookUpNames, mayBeId, type NamedId, parseName, type Part, partNamed, partsWithIds, readPartsOnce } from '../lookUp/names';
import type { Execution } from '../model';
import { isBlank } from '../values/blank';

/**
 * How links are used. If no record has the name, but the value may be an ID, a write sends it and lets the service
 * refuse it. A filter would silently find nothing, and a person would be asked to approve a checked write, so both are
 * refused here. IDs are
 * verified, that is, looked up too, in a preview, and where a value that is refused is left out.
 */
export type LinkUse = 'written' | 'checked' | 'verified' | 'filter';

const refusesUnknownNames = (use: LinkUse): boolean => use === 'filter' || use === 'checked';

/** Caches the records found by name in an execution: the rows of a file are looked up some hundred at a time. */
const foundNames = oncePerConnection<[collection: string], Map<string, NamedId>>(async () => await Promise.resolve(new Map()));
/** Whether the IDs of a collection, as far as they were looked up, belong to no record. */
const knownIds = oncePerConnection<[collection: string], Map<string, boolean>>(async () => await Promise.resolve(new Map()));

/** The names and IDs to look up, by collection, and the lists of parts to read. */
interface NamesToFind {
	names: Map<string, Set<string>>;
	ids: Map<string, Set<string>>;
	parts: Set<string>;
}

/**
 * Looks up the records, and parts of records, to which the items link by name, domain or email instead of an id. A value
 * that can only be an id is not looked up; `external_id:100123` is looked up only in that field, and `id:acme` is an id.
 *
 * @param valuesOf the values of an item; each name is looked up once. An item whose values cannot be read fails later
 * @param source the system that the items come from: values are its IDs first, as recordsOfSource finds them
 */
export async function lookUpLinks(
	{ n8n, api, rows, willExist, missingId, missingPart }: Pick<Execution, 'n8n' | 'api' | 'rows' | 'willExist' | 'missingId' | 'missingPart'>,
	valuesOf: (item: number) => InputValue[],
	use: LinkUse,
	source?: string,
): Promise<LinkedIds> {
	const toFind: NamesToFind = { names: new Map(), ids: new Map(), parts: new Set() };
	for (const item of (rows ?? n8n.getInputData()).keys()) {
		// Expressions of many items would block n8n.
		if (item % 1_000 === 999) await sleep(0);
		for (const { field, value } of valuesOrNone(() => valuesOf(item))) if (isLink(field)) addNames(toFind, field, value, use, willExist);
	}
	const sources: FoundLinks['sources'] = new Map();
	for (const [collection, ids] of toFind.ids) {
		const found = source === undefined ? undefined : await recordsOfSource(api, collection, source);
		if (!found) continue;
		const names = getOrCreate(toFind.names, collection, () => new Set<string>());
		const texts = [...ids, ...names].filter((text) => parseName(text).field === undefined);
		await found.find(texts);
		sources.set(collection, found.idOf);
		for (const text of texts) if (found.idOf(text) !== undefined) [ids, names].forEach((all) => all.delete(text));
	}
	// Otherwise, each row of a file would be refused, or lose its link.
	const unlessForbidden = (error: Error): Error => {
		if (rows && isAnsweredWith(error, 403)) throw error;
		return error;
	};
	const records = new Map<string, Map<string, NamedId>>();
	for (const [collection, names] of toFind.names) if (names.size > 0) records.set(collection, await lookUpRecords(api, collection, [...names], use, unlessForbidden));
	for (const [collection, outcomes] of willExist ? records : []) await addExpected(api, collection, outcomes, willExist!);
	for (const [collection, outcomes] of missingId ? records : []) {
		const unnamed = [...outcomes].flatMap(([name, outcome]) => ('notFound' in outcome ? [name] : []));
		const cache = await foundNames(api, collection);
		await inParallel(unnamed, async (name) => {
			const found = await missingId?.(collection, name).catch((error: Error) => error);
			if (found instanceof Error) outcomes.set(name, { refused: new Error(`it does not exist, and was not created: ${found.message}`) });
			else if (found !== undefined) [outcomes, cache].forEach((all) => all.set(name, { found }));
		});
	}
	const parts = new Map<string, Part[] | Error>();
	for (const key of toFind.parts) parts.set(key, await lookUpParts(api, key).catch(unlessForbidden));
	const missing = new Map<string, Map<string, boolean>>();
	for (const [collection, ids] of use === 'verified' ? toFind.ids : []) {
		// A name that no record has may be an ID in any form.
		const mayBeIds = [...(records.get(collection) ?? [])].flatMap(([name, outcome]) => ('notFound' in outcome && mayBeId(name) ? [name] : []));
		missing.set(collection, await missingIds(api, collection, [...ids, ...mayBeIds]));
	}
	const linkedIds = new LinkedIds({ sources, records, missing, parts }, use, willExist);
	for (const item of missingPart && parts.size > 0 ? (rows ?? n8n.getInputData()).keys() : []) {
		const unknown = linkedIds.unknownPart(valuesOrNone(() => valuesOf(item)));
		if (!unknown) continue;
		const { collection, name, owner: { ownerId, ownerName } } = unknown;
		const refuse = (error: Error): undefined => void api.notices.add(`“${name}” was not created: ${error.message}`);
		const part = await missingPart?.(collection, name, { id: ownerId, name: ownerName }).catch(refuse);
		if (part) unknown.parts.push({ ...part, ownerId, ownerName, isUnique: true });
	}
	return linkedIds;
}

function addNames({ names, ids, parts }: NamesToFind, field: Field, value: unknown, use: LinkUse, willExist: Execution['willExist']): void {
	const add = (found: Map<string, Set<string>>, collection: string, text: string) => getOrCreate(found, collection, () => new Set<string>()).add(text);
	withReplacedIds(field, idsOrNames(field, value), (collection, id) => {
		if (field.part !== undefined) {
			if (use === 'verified' || (isName(field, id) && parseName(id).field !== 'id')) parts.add(partsKey(field));
			return id;
		}
		if (willExist?.(collection, String(id)) === 'id') return id;
		const isId = !isName(field, id) || parseName(id).field === 'id';
		if (!isId) add(names, collection, id.trim());
		getOrCreate(ids, collection, () => new Set<string>());
		if (isId && id !== null && typeof id !== 'object') add(ids, collection, parseName(String(id)).name);
		return id;
	});
}

/** Looks IDs up, a hundred a request. @returns whether no record has them; IDs that cannot be looked up are left to the service */
export async function missingIds(api: Connection, collection: string, ids: string[]): Promise<Map<string, boolean>> {
	const outcomes = await knownIds(api, collection);
	const unknown = ids.filter((id) => !outcomes.has(id));
	const list = unknown.length > 0 ? (await api.describe(`/${collection}`))?.list : undefined;
	const target = list && { api, path: `/v1/${collection}`, list, filters: list.filters, fields: [] };
	const outcomeOf = target && (await lookUp(target, idField, unknown).catch(() => undefined));
	for (const id of unknown) {
		const outcome = outcomeOf?.(id);
		outcomes.set(id, outcome !== undefined && ('notFound' in outcome || 'refused' in outcome));
	}
	return outcomes;
}

/** A name that a record of the files will have is found, unless another record has it, too. */
async function addExpected(api: Connection, collection: string, outcomes: Map<string, NamedId>, willExist: NonNullable<Execution['willExist']>): Promise<void> {
	const list = (await api.describe(`/${collection}`))?.list;
	const idsOf = (outcome: NamedId) => ('several' in outcome ? outcome.several : 'found' in outcome ? [outcome.found] : []).map(String);
	const expected = [...outcomes].flatMap(([name, outcome]) => {
		const record = willExist(collection, name);
		return record === undefined || record === 'id' ? [] : [{ name, record, ids: idsOf(outcome) }];
	});
	const found = await recordsById(api, { path: `/v1/${collection}`, list, fields: identifyingFields }, expected.flatMap(({ ids }) => ids));
	for (const { name, record, ids } of expected) {
		const others = ids.filter((id) => !record.is(found.get(id) ?? {}));
		const isOne = !record.isShared && others.length === 0;
		outcomes.set(name, isOne ? { found: ids[0] ?? name } : { several: [record.isShared ? 'rows of these files' : 'a row of these files', ...others] });
	}
}

async function lookUpRecords(api: Connection, collection: string, names: string[], use: LinkUse, failed: (error: Error) => Error): Promise<Map<string, NamedId>> {
	const cache = await foundNames(api, collection);
	const unknown = names.filter((name) => !cache.has(name));
	// Text that looks like an ID is a name if no record has the ID.
	const missing = await missingIds(api, collection, unknown.filter(isIdShaped));
	for (const id of unknown) if (missing.get(id) === false) cache.set(id, { found: id });
	const uncachedNames = unknown.filter((name) => !cache.has(name));
	const looking = uncachedNames.length > 0 ? lookUpNames(api, collection, uncachedNames, refusesUnknownNames(use)) : new Map<string, NamedId>();
	const outcomes = await Promise.resolve(looking).catch(
		(error: Error) => new Map(uncachedNames.map((name): [string, NamedId] => [name, { failed: failed(error) }])),
	);
	for (const [name, outcome] of outcomes) if ('found' in outcome) cache.set(name, outcome);
	return new Map(names.flatMap((name): Array<[string, NamedId]> => {
		const outcome = outcomes.get(name) ?? cache.get(name);
		return outcome ? [[name, outcome]] : [];
	}));
}

async function lookUpParts(api: Connection, key: string): Promise<Part[]> {
	const [collection = '', part = ''] = JSON.parse(key) as string[];
	const parts = await readPartsOnce(api, collection, part);
	api.requireDescription(collection);
	return parts;
}

/** The outcomes of looking up records and their parts. */
interface FoundLinks {
	/** Finds records by their ID in the system that the items come from. */
	sources: Map<string, (id: string) => string | undefined>;
	records: Map<string, Map<string, NamedId>>;
	/** Whether no record has an ID, if IDs are verified. */
	missing: Map<string, Map<string, boolean>>;
	parts: Map<string, Part[] | Error>;
}

/** The ids of records, and of parts of records, that were looked up by name. */
export class LinkedIds {
	private readonly found: FoundLinks;
	private readonly use: LinkUse;
	private readonly willExist: Execution['willExist'];

	constructor(found: FoundLinks, use: LinkUse, willExist: Execution['willExist']) {
		this.willExist = willExist;
		this.found = found;
		this.use = use;
	}

	/**
	 * Replaces names by ids in the value of a link to records, or to their parts.
	 *
	 * @param values all values of the item
	 * @throws Error in the user's words if no record has the name, or several have it
	 */
	replaceNames({ field, converted }: ConvertedValue, values: ConvertedValue[]): unknown {
		if (field.part === undefined) return isRecordLink(field) ? this.withIds(field, converted, []) : converted;
		const owner = values.findLast(({ field: other }) => other.collection === field.collection && other.part === undefined);
		const owners = owner ? [this.withIds(owner.field, owner.converted, [])].flat().filter((id) => id !== undefined && id !== null) : [];
		return this.withIds(field, converted, owners);
	}

	/** The part that an item names and its record lacks. Undefined if it is not certain which record that is. */
	unknownPart(values: InputValue[]): { collection: string; name: string; owner: Part; parts: Part[] } | undefined {
		for (const { field, value } of values) {
			const parts = this.found.parts.get(partsKey(field));
			if (!Array.isArray(parts) || !isName(field, value)) continue;
			const picked = values.findLast(({ field: other }) => other.collection === field.collection && other.part === undefined);
			const [owner, ...others] = picked && !isBlank(picked.value) ? valuesOrNone(() => [this.withIds(picked.field, picked.value, [])].flat()) : new Set(parts.map(({ ownerId }) => ownerId));
			const ofOwner = parts.find(({ ownerId }) => ownerId === owner);
			if (!ofOwner || others.length > 0 || !('notFound' in partNamed(parts, value, [owner]))) continue;
			return { collection: field.collection!, name: parseName(value).name, owner: ofOwner, parts };
		}
		return undefined;
	}

	/** @param owners ids of the records to which a part may belong; empty if unknown */
	private withIds(field: Field, value: unknown, owners: unknown[]): unknown {
		const wrong = field.linksTo && valueShape(field) === 'object' ? [value ?? []].flat().find((link) => !isObject(link)) : undefined;
		if (wrong !== undefined) throw new FieldError(field, `“${String(wrong)}” is not a link. Use { "resource": "${field.linksTo![0]}", "id": "…" }.`);
		return withReplacedIds(field, value, (collection, idOrName) => {
			const text = hasText(idOrName) ? idOrName.trim() : idOrName;
			if (field.part === undefined && this.willExist?.(collection, String(text)) === 'id') return text;
			const ofSource = field.part === undefined ? this.found.sources.get(collection)?.(String(text)) : undefined;
			if (ofSource !== undefined) return hasNumbers(field) ? numericId(field, ofSource) : ofSource;
			const id = isName(field, idOrName) ? this.idOf(field, collection, idOrName, owners) : text;
			if (!this.isMissing(field, collection, String(id))) return id;
			if (field.part !== undefined) throw new FieldError(field, `“${String(id)}” ${this.partProblem(field, { notFound: true }, owners)}`);
			throw new FieldError(field, `no record of ${collection} has the ${isName(field, idOrName) ? 'name or ID' : 'ID'} “${String(id)}”${this.found.sources.has(collection) ? ', here or in the other system' : ''}.`);
		});
	}

	private idOf(field: Field, collection: string, idOrName: string, owners: unknown[]): unknown {
		const text = idOrName.trim();
		const { field: nameField, name } = parseName(text);
		if (nameField === 'id') return hasNumbers(field) ? numericId(field, name) : name;
		const outcome = this.outcomeOf(field, collection, text, owners);
		if (outcome === undefined) return hasNumbers(field) ? numericId(field, text) : idOrName;
		if ('found' in outcome) return outcome.found;
		const isCertain = 'several' in outcome || (field.part !== undefined && 'failed' in outcome);
		if (!refusesUnknownNames(this.use) && !isCertain && mayBeId(text) && !hasNumbers(field)) return text;
		if (field.part !== undefined) throw new FieldError(field, `“${text}” ${this.partProblem(field, outcome, owners)}`);
		const problem = recordProblem(collection, text, outcome, this.use);
		throw new UnclearName(field, problem, { collection, name: text, ids: 'several' in outcome ? outcome.several : [] });
	}

	private outcomeOf(field: Field, collection: string, text: string, owners: unknown[]): NamedId | undefined {
		if (field.part === undefined) return this.found.records.get(collection)?.get(text);
		const parts = this.found.parts.get(partsKey(field));
		return parts instanceof Error ? { failed: parts } : parts && partNamed(parts, text, owners);
	}

	/** Whether no record has an ID, if IDs are verified; or no part of one, if the parts were read. */
	private isMissing(field: Field, collection: string, id: string): boolean {
		if (field.part === undefined) {
			// A name that a row of the files has.
			const isExpected = 'found' in (this.found.records.get(collection)?.get(id) ?? {});
			return this.use === 'verified' && !isExpected && this.found.missing.get(collection)?.get(id) === true;
		}
		const parts = this.found.parts.get(partsKey(field));
		return Array.isArray(parts) && !parts.some((part) => String(part.id) === id);
	}

	private partProblem(field: Field, outcome: NamedId, owners: unknown[]): string {
		const { collection, part } = field;
		const found = this.found.parts.get(partsKey(field));
		const parts = Array.isArray(found) ? found : [];
		if ('failed' in outcome) return `could not be looked up in ${collection}: ${outcome.failed.message}`;
		if ('several' in outcome) {
			return `is the name of several ${part} in ${collection}: ${partsWithIds(parts, outcome.several)}. Also map the field that links to ${collection}, or use the ID of the right one.`;
		}
		return `does not match any of the ${part} in ${collection}. ${choiceOf(parts, owners)}`;
	}
}

/** No record has the name, or several have it. */
export class UnclearName extends FieldError {
	readonly lookUp: {
		/** Where the name was looked up: `users`. */
		collection: string;
		name: string;
		/** The records that have the name. */
		ids: unknown[];
	};

	constructor(field: Pick<Field, 'name' | 'label'>, problem: string, lookUp: UnclearName['lookUp']) {
		super(field, `“${lookUp.name}” ${problem}`);
		this.lookUp = lookUp;
	}
}

/** @throws Error in the user's words if the id is not a number */
const numericId = ({ name, label }: Field, id: string): unknown => apiValue(fieldNamed(name, { label, kind: 'number' }), id, 'utc');

/** The key of the list of parts to which a field links. */
const partsKey = ({ collection, part }: Field): string => JSON.stringify([collection, part]);

/** The ids or names in a value; undefined if the field cannot hold names. */
function idsOrNames(field: Field, value: unknown): unknown {
	if (!field.linksTo && !fieldKinds[field.kind].mayHold.includes('names') && !hasNumbers(field)) return undefined;
	return field.linksTo || valueShape(field) === 'list' ? valuesOrNone(() => apiValue(field, value, 'utc') as unknown[]) : value;
}

function valuesOrNone<Value>(read: () => Value[]): Value[] {
	try {
		return read();
	} catch {
		// The item fails with this error when its turn comes.
		return [];
	}
}

function recordProblem(collection: string, name: string, outcome: NamedId, use: LinkUse): string {
	if ('failed' in outcome) {
		return `could not be looked up in ${collection}: ${asSentence(outcome.failed.message)} Use the ID; if this is the ID, write id:${name}.`;
	}
	if ('refused' in outcome) return `could not be looked up in ${collection}: ${outcome.refused.message}`;
	if ('several' in outcome) {
		const ids = outcome.several.slice(0, 5).map(String).join(', ');
		return `may match several records of ${collection}, such as ${ids}. Use the ID of the right one.`;
	}
	if (/^\w*\d[\w-]*(?:[;,|]\s*\w*\d[\w-]*)+$/.test(name)) return 'are several IDs, but the field takes one. Say which in Values In → Value Map, such as 1;2 → 1.';
	const otherwise = use === 'filter' ? 'or use the ID' : 'create the record first, or use its ID';
	return `${matchesNoRecord(collection)} Correct it, ${otherwise}.`;
}

const matchesNoRecord = (collection: string): string => `does not match any record of ${collection}.`;
