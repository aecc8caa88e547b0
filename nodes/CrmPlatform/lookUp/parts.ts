import type { IDataObject } from 'n8n-workflow';

import { oncePerConnection, type Connection } from '../api/connection';
import type { Collection } from '../api/http/path';
import { isObject } from '../base/json';
import { listed } from '../base/lists';
import { occurrences } from '../base/maps';
import type { NamedPart } from '../model';
import { foldedText } from '../values/foldedText';
import type { NameResult } from './byName';
import { foundAmong, firstRecords } from './lookUp';
import { hasText, identifyingFields, parseName, rememberNames } from './names';

/** A part of a record, such as a stage of a pipeline. */
export interface Part extends NamedPart {
	ownerId: unknown;
	/** Name of the record; empty if it has none. */
	ownerName: string;
	/** Whether its name is unique within the record. */
	isUnique: boolean;
}

/**
 * The parts of all records of a collection.
 *
 * @param part the member that lists them, such as `stages`
 * @throws NodeApiError if the service does not list the records
 */
export async function readParts(api: Connection, collection: Collection, part: string): Promise<Part[]> {
	const records = await firstRecords(api, collection, Infinity);
	const parts = records.flatMap((record) => partsIn(record, part));
	rememberNames(api, collection, records);
	rememberNames(api, `${collection}.${part}`, parts);
	return parts;
}

/** The parts that an execution has read; those that it adds are added here. */
export const readPartsOnce = oncePerConnection(readParts);

export function partsIn(record: IDataObject, part: string): Part[] {
	const value = record[part];
	const partObjects = (Array.isArray(value) ? (value as unknown[]) : []).filter(isObject);
	const nameOf = (object: IDataObject): string => identifyingFields.map((name) => object[name]).find(hasText)?.trim() ?? '';
	const names = partObjects.map(nameOf);
	const counts = occurrences(names.map(foldedText));
	const owner = { ownerId: record.id, ownerName: nameOf(record) };
	return partObjects.map(({ id }, i) => {
		const name = names[i]!;
		return { ...owner, id, name, isUnique: name !== '' && counts.get(foldedText(name)) === 1 };
	});
}

/** @param owners ids of the records to which the part may belong; empty if unknown */
export function partNamed(parts: Part[], text: string, owners: unknown[]): NameResult {
	const { field, name } = parseName(text);
	const isMeant = (part: Part) => (field === undefined && part.id === name) || foldedText(part.name) === foldedText(name);
	const meant = parts.filter((part) => isPartOf(part, owners) && isMeant(part));
	return foundAmong([...new Set(meant.map(({ id }) => id))]);
}

const isPartOf = ({ ownerId }: Part, owners: unknown[]): boolean => owners.length === 0 || owners.includes(ownerId);

/** The ids of parts with the same name, and their records, for an error. */
export function partsWithIds(parts: Part[], ids: unknown[]): string {
	const shown = parts.filter(({ id }) => ids.includes(id)).slice(0, maxNamed);
	return shown.map(({ ownerName, id }) => `${String(id)}${ownerName && ` of ${ownerName}`}`).join(', ');
}

const maxNamed = 20;

/** The available parts, for an error. */
export function choiceOf(parts: Part[], owners: unknown[]): string {
	const named = parts.filter((part) => isPartOf(part, owners)).map(({ name }) => name);
	const names = [...new Set(named.filter(hasText))];
	if (names.length === 0) return 'Correct it, or use the ID.';
	return `Use one of these, or the ID: ${listed(names, maxNamed)}.`;
}
