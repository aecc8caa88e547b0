import type { IDataObject } from 'n8n-workflow';

import { path as pathOf } from '../api/http/path';
import { outcomeField } from '../api/record';
import { getOrCreate } from '../base/maps';
import { customKeyOf, fieldNamed, type Field } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { matchKey } from '../fields/keys';
import { readCustomFieldsIfAllowed } from '../api/customFields';
import { lookUpNames, textOfName } from '../lookUp/names';
import { collectionPath } from '../mapping/locator';
import { prepareValues, type BodyOf } from '../mapping/prepareValues';
import { refuseDiffering } from '../mapping/sameForAll';
import { storedFields } from '../mapping/storedFields';
import type { Execution, Operation, ResultFrom, Write, Writes } from '../model';
import { blankNotices, emptyCellsOption, valuesInOption, fieldsMatchOn, fieldsProperties } from '../parameters/fieldParameters';
import { simplifyProperty, batchOptions } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { foldedText, normalizedName, visibleText } from '../values/foldedText';
import { requireAnyValue, requireDescribed, requireWrite } from '../writing/requireWrite';
import { checkedMatch, chosenMatchField, matchValue, nameFieldsToMatchOn, noMatchValue } from '../writing/matchOn';
import { writeOncePerOption } from '../writing/writeOne';

export const upsert: Operation = {
	option: {
		name: 'Create or Update',
		value: 'upsert',
		action: 'Create or update %',
		description: 'Create a new record, or update the current one if it already exists (upsert)',
	},

	properties: (resource) => [
		fieldsMatchOn,
		...fieldsProperties(resource),
		...blankNotices,
		simplifyProperty,
	],
	options: [...batchOptions, emptyCellsOption, valuesInOption, writeOncePerOption],
	write: (description) => description.upsert,

	async prepare(execution) {
		const description = await requireWrite(execution);
		const { match: matching, fields } = description;
		refuseDiffering(execution.n8n, [fieldsMatchOn]);
		const stored = storedFields(execution.n8n, 'fields');
		const bodyOf = await prepareValues(execution, stored, fields, 'clear');
		const resultFrom = await simplifyWritten(execution);
		const chosen = (chosenMatchField(execution, fieldsMatchOn.name, 0) ?? stored.matchedBy) || undefined;
		const isName = chosen !== undefined && nameFieldsToMatchOn.includes(chosen) && !matching?.values.includes(chosen);
		const named = isName ? fields.find((field) => field.name === chosen) : undefined;
		if (named) return await upsertByName(execution, named, bodyOf, resultFrom);
		const name = checkedMatch(execution, matching, chosen);
		const custom = name === undefined || customKeyOf(name) === undefined ? undefined : await readCustomFieldsIfAllowed(execution.api, collectionPath(execution, 0));
		const match = name === undefined ? undefined : ([...fields, ...(custom?.fields ?? [])].find((field) => field.name === name) ?? fieldNamed(name));
		const noteRepeated = repeatedMatches(execution.api.notices);
		const of = (item: number): Write => {
			const path = collectionPath(execution, item);
			const body = requireAnyValue(bodyOf(item));
			// It is unknown which record matches, so items keep their order, and a repeated write may create another record.
			if (!match || !matching) return { collection: path, path, body, isRepeatable: false, mayExist: true };
			const value = matchValue(match.name, body);
			if (value === undefined) throw new Error(noMatchValue(match.name));
			noteRepeated(item, `${path} ${matchKey(match, value)}`, value);
			// Keeps writes in order, also in a service that ignores case without saying so.
			return { collection: path, path, body, query: { [matching.name]: match.name }, mayExist: true, match: `${match.name}=${foldedText(value)}` };
		};
		return {
			description,
			of,
			resultFrom: (record, item, answered) => resultFrom(description.reportsCreated ? withOutcome(record, answered.status) : record, item, answered),
		};
	},
};

/**
 * Tells the user of items that overwrite each other.
 *
 * @returns a function that takes an item, what identifies its record, and the value in it
 */
function repeatedMatches(notices: Set<string>): (item: number, match: string, value: string) => void {
	const items = new Map<string, number>();
	const examples: string[] = [];
	let count = 0;
	let notice = '';
	return (item, match, value) => {
		const earlier = items.get(match);
		items.set(match, item);
		if (earlier === undefined || earlier === item) return;
		count += 1;
		if (examples.length < maxExamples) examples.push(`${earlier} and ${item} (${value})`);
		notices.delete(notice);
		const more = count > examples.length ? `, and ${count - examples.length} more` : '';
		notice = `Items with the same value to match on change one record, and the last one wins: ${examples.join(', ')}${more}.`;
		notices.add(notice);
	};
}

const maxExamples = 5;

/** What the status of an answer tells about the record (RFC 9110, section 9.3.4). */
const outcomes: Record<number, string> = { 200: 'updated', 201: 'created' };

/** The record, with its outcome unless it has a field of that name. */
function withOutcome(record: IDataObject, status: number): IDataObject {
	const outcome = outcomes[status];
	if (outcome === undefined || outcomeField in record) return record;
	return { ...record, [outcomeField]: outcome };
}

/**
 * Creates or updates records by their names, which the service does not match on: the records are looked up first, without
 * regard to case and accents, and then updated or created.
 */
async function upsertByName(execution: Execution, field: Field, valuesOf: BodyOf, resultFrom: ResultFrom): Promise<Writes> {
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
	const outcomes = texts.length > 0 ? await lookUpNames(api, collectionPath(execution, 0), texts) : undefined;
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
