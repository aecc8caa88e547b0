import { sleep } from 'n8n-workflow';

import { asSentence } from '../api/http/errorWords';
import { oncePerConnection } from '../api/oncePerConnection';
import { refersToRecords, withReplacedIds } from '../api/openapi/linkFields';
import type { Field } from '../fields/field';
import { apiValue, filterValue } from '../fields/apiValue';
import { fieldKinds, valueShape } from '../fields/fieldKinds';
import type { Execution } from '../model';
import { hasNumbers, hasText, isName, mayBeId, parseName } from './nameSyntax';
import type { FieldValue } from './objectFields';
import { lookUpNames, type NamedId } from './nameLookUp';
import { choiceOf, partNamed, partsWithIds, readParts, type Part } from './recordParts';

/**
 * Replaces names by ids in the value of a field that refers to other records, or to their parts.
 *
 * @param values all values of the item
 * @throws Error in the user's words where no record has that name, or several have it
 */
type LinkedIds = (field: Field, value: unknown, values: FieldValue[]) => unknown;

/**
 * What a reference is used for. If no record has the name, but the value may be an ID, it is sent where it is
 * written, so that the service refuses it. As a filter it would silently find nothing, so it is refused here.
 */
type ReferenceUse = 'written' | 'filter';

/** Cache of the records found by name in an execution: the rows of a file are looked up some thousand at a time. */
const foundBefore = oncePerConnection<[reference: string], Map<string, NamedId>>(async () => await Promise.resolve(new Map()));
const readPartsOnce = oncePerConnection(readParts);

/**
 * Looks up the records, and their parts, that the items name by name, domain or email instead of an id. A
 * value that can only be an id is not looked up; `external_id:100123` is looked up as that field only, and
 * `id:acme` is an id.
 *
 * @param referencesOf the values of an item that may be names: each name is looked up once
 */
export async function findIds(
	{ n8n, api }: Pick<Execution, 'n8n' | 'api'>,
	referencesOf: (item: number) => FieldValue[],
	use: ReferenceUse,
): Promise<LinkedIds> {
	const names = new Map<string, Set<string>>();
	const parts = new Map<string, Part[] | Error>();
	for (const item of n8n.getInputData().keys()) {
		// Expressions of many items would block n8n.
		if (item % 1_000 === 999) await sleep(0);
		for (const [field, value] of valuesOrNone(() => referencesOf(item))) {
			withReplacedIds(field, plainValue(field, value), (reference, id) => {
				if (!isName(field, id) || parseName(id).field === 'id') return id;
				if (field.part !== undefined) parts.set(keyOf(field), []);
				else names.set(reference, (names.get(reference) ?? new Set()).add(id.trim()));
				return id;
			});
		}
	}

	const records = new Map<string, Map<string, NamedId>>();
	for (const [reference, requestedNames] of names) {
		const cache = await foundBefore(api, reference);
		const uncachedNames = [...requestedNames].filter((name) => !cache.has(name));
		const pendingOutcomes = uncachedNames.length === 0 ? Promise.resolve(new Map<string, NamedId>()) : lookUpNames(api, reference, uncachedNames, use === 'filter');
		const outcomes = await pendingOutcomes.catch((error: Error) => new Map(uncachedNames.map((name): [string, NamedId] => [name, { cannotBeAsked: error }])));
		for (const [name, outcome] of outcomes) if ('found' in outcome) cache.set(name, outcome);
		records.set(reference, new Map([...cache, ...outcomes]));
	}
	for (const key of parts.keys()) {
		const [reference = '', part = ''] = JSON.parse(key) as string[];
		const reading = readPartsOnce(api, reference, part).then((read) => {
			api.requireDescription(reference);
			return read;
		});
		parts.set(key, await reading.catch((error: Error) => error));
	}

	const outcomeOf = (field: Field, reference: string, text: string, owners: unknown[]): NamedId | undefined => {
		if (field.part === undefined) return records.get(reference)?.get(text);
		const read = parts.get(keyOf(field));
		return read instanceof Error ? { cannotBeAsked: read } : read && partNamed(read, text, owners);
	};
	const choices = (field: Field, owners: unknown[], outcome: NamedId): string => {
		const read = parts.get(keyOf(field));
		const availableParts = Array.isArray(read) ? read : [];
		return 'several' in outcome ? partsWithIds(availableParts, outcome.several) : choiceOf(availableParts, owners);
	};
	const replaced = (field: Field, value: unknown, owners: unknown[]): unknown =>
		withReplacedIds(field, value, (reference, id) => {
			if (!isName(field, id)) return hasText(id) ? id.trim() : id;
			const text = id.trim();
			const { field: place, name } = parseName(text);
			if (place === 'id') return hasNumbers(field) ? numericId(field, name, use) : name;
			const outcome = outcomeOf(field, reference, text, owners);
			if (outcome === undefined) return hasNumbers(field) ? numericId(field, text, use) : id;
			if ('found' in outcome) return outcome.found;
			const isCertain = 'several' in outcome || (field.part !== undefined && 'cannotBeAsked' in outcome);
			if (use === 'written' && !isCertain && mayBeId(text) && !hasNumbers(field)) return text;
			const why = field.part === undefined ? recordProblem(reference, text, outcome, use) : partProblem(field, outcome, choices(field, owners, outcome));
			const message = `${field.label}: “${text}” ${why}`;
			if (field.part !== undefined) throw new Error(message);
			throw new UnclearName(message, reference, text, 'several' in outcome ? outcome.several : []);
		});
	return (field, value, values) => {
		if (field.part === undefined) return refersToRecords(field) ? replaced(field, value, []) : value;
		const owner = values.findLast(([other]) => other.reference === field.reference && other.part === undefined);
		const owners = owner ? [replaced(...owner, [])].flat().filter((id) => id !== undefined && id !== null) : [];
		return replaced(field, value, owners);
	};
}

/** No record has the name, or several have it. */
export class UnclearName extends Error {
	/** Where it was looked up: `users`. */
	readonly collection: string;
	readonly text: string;
	/** The records that have it. */
	readonly ids: unknown[];

	constructor(message: string, collection: string, text: string, ids: unknown[]) {
		super(message);
		this.collection = collection;
		this.text = text;
		this.ids = ids;
	}
}

/** @throws Error in the user's words where it is not a number */
function numericId({ name, path, label, description, required }: Field, id: string, use: ReferenceUse): unknown {
	const field: Field = { name, path, label, description, required, kind: 'number' };
	return use === 'filter' ? filterValue(field, id, 'utc') : apiValue(field, id, 'utc');
}

const keyOf = ({ reference, part }: Field): string => JSON.stringify([reference, part]);

/** The value in the form that holds IDs; undefined if the field cannot hold names. */
function plainValue(field: Field, value: unknown): unknown {
	if (!field.linksTo && !fieldKinds[field.kind].mayHold.includes('names') && !hasNumbers(field)) return undefined;
	return field.linksTo || valueShape(field) === 'list' ? valuesOrNone(() => apiValue(field, value, 'utc') as unknown[]) : value;
}

function valuesOrNone<One>(read: () => One[]): One[] {
	try {
		return read();
	} catch {
		// The item fails with this error when its turn comes.
		return [];
	}
}

function recordProblem(reference: string, name: string, outcome: NamedId, use: ReferenceUse): string {
	if ('cannotBeAsked' in outcome) {
		return `could not be looked up in ${reference}: ${asSentence(outcome.cannotBeAsked.message)} Use the ID; if this is the ID, write id:${name}.`;
	}
	if ('refused' in outcome) return `could not be looked up in ${reference}: ${outcome.refused.message}`;
	if ('several' in outcome) {
		const ids = outcome.several.slice(0, 5).map(String).join(', ');
		return `may match several records of ${reference}, such as ${ids}. Use the ID of the right one.`;
	}
	const otherwise = use === 'filter' ? 'or use the ID' : 'create the record first, or use its ID';
	return `does not match any record of ${reference}. Correct it, ${otherwise}.`;
}

function partProblem({ reference, part }: Field, outcome: NamedId, choices: string): string {
	if ('cannotBeAsked' in outcome) return `could not be looked up in ${reference}: ${outcome.cannotBeAsked.message}`;
	if ('several' in outcome) {
		return `is the name of several ${part} in ${reference}: ${choices}. Also give the field that links to ${reference}, or use the ID of the right one.`;
	}
	return `does not match any of the ${part} in ${reference}. ${choices}`;
}
