import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { isObject } from '../api/http/json';
import { readPages } from '../api/lists/pages';
import { oncePerConnection } from '../api/oncePerConnection';
import type { Field } from '../fields/field';
import { withReplacedIds } from '../api/openapi/linkFields';
import { hasText, identifyingFields, isName, mayBeId, namesIn, parseName, wordOf } from './names';
import type { FieldValue } from './objectFields';
import { rememberNames } from './recordNames';
import type { ReferenceUse } from './references';

/** A part of a record, such as a stage of a pipeline. */
export interface Part {
	/** Id of the record. */
	whole: unknown;
	id: unknown;
	/** Empty if it has none. */
	name: string;
	/** Whether it has a name that no other part of the same record has. */
	isOnly: boolean;
}

/**
 * The parts of all records of a collection.
 *
 * @param part the member that lists them, such as `stages`
 * @throws NodeApiError where the service does not list the records
 */
export async function readParts(api: Connection, reference: string, part: string): Promise<Part[]> {
	const list = (await api.describe(`/${reference}`))?.list;
	if (!list) return [];
	const parts: Part[] = [];
	for await (const { records } of readPages(api.send, { path: `/v1/${reference}`, list, query: {} })) {
		rememberNames(api, reference, records);
		for (const record of records) parts.push(...partsIn(record, part));
	}
	rememberNames(api, `${reference}.${part}`, parts);
	return parts;
}

function partsIn(record: IDataObject, part: string): Part[] {
	const listed = record[part];
	const own = (Array.isArray(listed) ? (listed as unknown[]) : []).filter(isObject);
	const names = own.map((one) => identifyingFields.map((name) => one[name]).find(hasText)?.trim() ?? '');
	const words = names.map(wordOf);
	const isOnly = (word: string) => word !== '' && words.filter((other) => other === word).length === 1;
	return own.map(({ id }, i) => ({ whole: record.id, id, name: names[i]!, isOnly: isOnly(words[i]!) }));
}

/**
 * Replaces the names of parts of other records by their ids.
 *
 * @param whole id of the record, or ids of several, where that is known
 * @throws Error in the user's words where no part has that name, or parts of several records have it
 */
export type PartIds = (field: Field, value: unknown, whole: unknown) => unknown;

const readPartsOnce = oncePerConnection(readParts);

/** @param given the values of fields that refer to parts: without a name among them, nothing is read */
export async function findParts(
	api: Connection,
	given: FieldValue[],
	use: ReferenceUse = 'written',
): Promise<PartIds> {
	const read = new Map<string, Part[] | Error>();
	const keyOf = ({ reference, part }: Field) => `${reference}.${part}`;
	for (const [field, value] of given) {
		const { reference, part } = field;
		if (reference === undefined || part === undefined || read.has(keyOf(field))) continue;
		const values = [namesIn(field, value)].flat();
		if (!values.some((one) => isName(field, one))) continue;
		const reading = readPartsOnce(api, reference, part).then((parts) => {
			api.requireDescription(reference);
			return parts;
		});
		read.set(keyOf(field), await reading.catch((error: Error) => error));
	}

	const idOf = (field: Field, value: unknown, wholes: unknown[]): unknown => {
		const parts = read.get(keyOf(field));
		if (parts === undefined || !isName(field, value)) return value;
		const { field: named, name } = parseName(value);
		if (named === 'id') return name;
		const place = `${field.label}: "${value}"`;
		if (parts instanceof Error) throw new Error(`${place} could not be looked up in ${field.reference}: ${parts.message}`);
		const isWithin = ({ whole }: Part) => wholes.length === 0 || wholes.includes(whole);
		const isMeant = (part: Part) =>
			isWithin(part) && ((named === undefined && part.id === name) || wordOf(part.name) === wordOf(name));
		const ids = new Set(parts.filter(isMeant).map(({ id }) => id));
		if (ids.size === 1) return [...ids][0];
		if (ids.size > 1) {
			throw new Error(
				`${place} is the name of several ${field.part} in ${field.reference}. Also give the field that links to ${field.reference}, or use the ID of the right one.`,
			);
		}
		if (use === 'written' && mayBeId(value)) return value;
		throw new Error(`${place} does not match any of the ${field.part} in ${field.reference}. ${choiceOf(parts.filter(isWithin))}`);
	};
	return (field, value, whole) => {
		const wholes = [whole].flat().filter((one) => one !== undefined && one !== null);
		return withReplacedIds(field, value, (_, one) => idOf(field, one, wholes));
	};
}

/** Names in an error; more would not be read. */
const maxNamed = 20;

function choiceOf(parts: Part[]): string {
	const names = [...new Set(parts.map(({ name }) => name).filter(hasText))];
	if (names.length === 0) return 'Correct it, or use the ID.';
	const more = names.length > maxNamed ? ', …' : '';
	return `Use one of these, or the ID: ${names.slice(0, maxNamed).join(', ')}${more}.`;
}
