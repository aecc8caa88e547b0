import type { IDataObject } from 'n8n-workflow';

import { path as pathOf } from '../api/http/path';
import { collectionName, outcomeField } from '../api/record';
import { getOrCreate } from '../base/maps';
import { fieldNamed, type Field } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { lookUpNames, textOfName, type NamedId } from '../lookUp/names';
import { collectionPath } from '../mapping/locator';
import type { Execution, ResultFrom, Write, Writes } from '../model';
import { normalizedName, visibleText } from '../values/foldedText';
import { requireDescribed } from './requireWrite';

/** The fields by which people know records, and which need not be unique. */
export const nameFieldsToMatchOn = ['name', 'title'];

interface NamedItems {
	field: string;
	fields: Field[];
	/** @throws Error in the user's words */
	bodyOf(item: number): IDataObject;
	resultFrom: ResultFrom;
}

/**
 * Creates or updates records by their names, which the service does not match on: the records are looked up first, without
 * regard to case and accents, and then updated or created.
 */
export async function upsertByName(execution: Execution, { field, fields, bodyOf, resultFrom }: NamedItems): Promise<Writes> {
	const { n8n, api, resource } = execution;
	const [create, update] = [await requireDescribed(execution, 'create'), await requireDescribed(execution, 'update')];
	const { label } = fields.find(({ name }) => name === field) ?? fieldNamed(field);
	const items = [...n8n.getInputData().keys()];
	const textOf = (item: number): string => textOfName(field, visibleText(String(bodyOf(item)[field] ?? '')));
	const texts = new Map(items.map((item) => [item, orNothing(() => textOf(item))]));
	const collection = collectionName(collectionPath(execution, 0));
	const named = [...new Set([...texts.values()].filter((text) => text !== undefined))];
	const outcomes = named.length > 0 ? await lookUpNames(api, collection, named, false) : new Map<string, NamedId>();
	const firstItems = new Map<string, number>();
	for (const [item, text] of texts) if (text !== undefined) getOrCreate(firstItems, normalizedName(text), () => item);

	const writeOf = (item: number): Write => {
		const path = collectionPath(execution, item);
		const body = bodyOf(item);
		const refuse = (problem: string) => new FieldError({ name: field, label }, problem);
		const text = texts.get(item);
		const name = String(body[field] ?? '');
		if (text === undefined || name.trim() === '') throw refuse('the name to match on is empty.');
		const outcome = outcomes.get(text);
		if (outcome && 'found' in outcome) return { collection: path, path: path + pathOf`/${String(outcome.found)}`, id: String(outcome.found), body };
		if (outcome && 'several' in outcome) {
			throw refuse(`several records of ${resource.name} are called “${name}”: ${outcome.several.slice(0, 5).map(String).join(', ')}. Update the right one by its ID.`);
		}
		if (!outcome || !('notFound' in outcome)) throw refuse(`“${name}” could not be looked up, so nothing was written.`);
		const first = firstItems.get(normalizedName(text)) ?? item;
		if (first !== item) throw refuse(`item ${first} creates “${name}”. Give each record in one item.`);
		return { description: create, collection: path, path, body };
	};
	const isFound = (item: number): boolean => 'found' in (outcomes.get(texts.get(item) ?? '') ?? {});
	return {
		description: update,
		of: writeOf,
		resultFrom: (record, item, answer) => ({ ...(resultFrom(record, item, answer) as IDataObject), [outcomeField]: isFound(item) ? 'updated' : 'created' }),
	};
}

function orNothing(read: () => string): string | undefined {
	try {
		return read();
	} catch {
		// The item fails with this error when its turn comes.
		return undefined;
	}
}
