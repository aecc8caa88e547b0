import type { IDataObject } from 'n8n-workflow';

import { path as pathOf } from '../api/http/path';
import { collectionName, outcomeField } from '../api/record';
import { getOrCreate } from '../base/maps';
import type { Field } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { lookUpNames, textOfName } from '../lookUp/names';
import { collectionPath } from '../mapping/locator';
import type { BodyOf } from '../mapping/prepareValues';
import type { Execution, ResultFrom, Write, Writes } from '../model';
import { normalizedName, visibleText } from '../values/foldedText';
import { requireAnyValue, requireDescribed } from './requireWrite';

/** The fields by which people know records, and which need not be unique. */
export const nameFieldsToMatchOn = ['name', 'title'];

/**
 * Creates or updates records by their names, which the service does not match on: the records are looked up first, without
 * regard to case and accents, and then updated or created.
 */
export async function upsertByName(execution: Execution, field: Field, valuesOf: BodyOf, resultFrom: ResultFrom): Promise<Writes> {
	const { n8n, api, resource } = execution;
	const [create, update] = [await requireDescribed(execution, 'create'), await requireDescribed(execution, 'update')];
	const bodies = new Map<number, IDataObject>();
	const bodyOf: BodyOf = (item) => getOrCreate(bodies, item, () => requireAnyValue(valuesOf(item)));
	const nameOf = (item: number): string => visibleText(String(bodyOf(item)[field.name] ?? ''));
	const names = new Map<number, string>();
	const firstItems = new Map<string, number>();
	for (const item of n8n.getInputData().keys()) {
		try {
			names.set(item, nameOf(item));
			getOrCreate(firstItems, normalizedName(nameOf(item)), () => item);
		} catch {
			// The item fails with this error when its turn comes.
		}
	}
	const textOf = (name: string) => textOfName(field.name, name);
	const texts = [...new Set([...names.values()].map(textOf))];
	const outcomes = texts.length > 0 ? await lookUpNames(api, collectionName(collectionPath(execution, 0)), texts) : undefined;
	const outcomeOf = (item: number) => outcomes?.get(textOf(names.get(item) ?? ''));

	const of = (item: number): Write => {
		const path = collectionPath(execution, item);
		const body = bodyOf(item);
		const name = String(body[field.name] ?? '');
		const refuse = (problem: string) => new FieldError(field, problem);
		if (name.trim() === '') throw refuse('the name to match on is empty.');
		const outcome = outcomeOf(item);
		if (outcome && 'found' in outcome) return { collection: path, path: path + pathOf`/${String(outcome.found)}`, id: String(outcome.found), body };
		if (outcome && 'several' in outcome) {
			throw refuse(`several records of ${resource.name} are called “${name}”: ${outcome.several.slice(0, 5).map(String).join(', ')}. Update the right one by its ID.`);
		}
		if (!outcome || !('notFound' in outcome)) throw refuse(`“${name}” could not be looked up, so nothing was written.`);
		const first = firstItems.get(normalizedName(visibleText(name))) ?? item;
		if (first !== item) throw refuse(`item ${first} creates “${name}”. Give each record in one item.`);
		return { description: create, collection: path, path, body };
	};
	return {
		description: update,
		of,
		resultFrom(record, item, answer) {
			const isFound = 'found' in (outcomeOf(item) ?? {});
			return { ...(resultFrom(record, item, answer) as IDataObject), [outcomeField]: isFound ? 'updated' : 'created' };
		},
	};
}
