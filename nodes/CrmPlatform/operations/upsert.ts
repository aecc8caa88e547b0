import type { IDataObject } from 'n8n-workflow';

import { path as pathOf } from '../api/http/path';
import { outcomeField } from '../api/record';
import { orThrow, resultOrError } from '../base/errorOf';
import { getOrCreate } from '../base/maps';
import { customKeyOf, fieldNamed, type Field } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { matchKey } from '../fields/keys';
import { readCustomFieldsIfAllowed } from '../api/customFields';
import { lookUpNames, textOfName } from '../lookUp/names';
import { collectionPath } from '../mapping/locator';
import { readEach } from '../mapping/expressions/evaluation';
import { bodiesOfItems } from '../mapping/itemValues';
import { refuseDiffering } from '../mapping/sameForAll';
import { storedFields } from '../mapping/storedFields';
import type { Execution, Operation, ResultFrom, Write, Writes } from '../model';
import { blankNotices, emptyCellsOption, valuesInOption, fieldsMatchOn, fieldsProperties } from '../parameters/fieldParameters';
import { simplifyProperty, batchOptions } from '../parameters/outputParameters';
import { newRecordAt } from '../parameters/recordParameters';
import { simplifyWritten } from '../reading/simplify';
import { foldedText, normalizedName, visibleText } from '../values/foldedText';
import { requireAnyValue, requireDescribed, requireWrite } from '../writing/requireWrite';
import { checkedMatch, chosenMatchField, matchValue, nameFieldsToMatchOn, noMatchValue } from '../writing/matchOn';
import { writeOncePerOption } from '../writing/sendAlone';

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
	describedWrite: (description) => description.upsert,

	async prepare(execution) {
		const description = await requireWrite(execution);
		const { match: matching, fields } = description;
		refuseDiffering(execution.n8n, [fieldsMatchOn]);
		const stored = storedFields(execution.n8n, 'fields');
		const chosen = (chosenMatchField(execution, fieldsMatchOn.name, 0) ?? stored.matchedBy) || undefined;
		const isName = chosen !== undefined && nameFieldsToMatchOn.includes(chosen) && !matching?.values.includes(chosen);
		const named = isName ? fields.find((field) => field.name === chosen) : undefined;
		const name = named ? undefined : checkedMatch(execution, matching, chosen);
		const read = await bodiesOfItems(execution, { stored, fields, whenCleared: 'clear' });
		const bodies = read.map((body) => resultOrError(() => requireAnyValue(orThrow(body))));
		const resultFrom = await simplifyWritten(execution);
		if (named) return await upsertByName(execution, named, bodies, resultFrom);
		const match = name === undefined ? undefined : await matchField(execution, fields, name);
		const items = await readEach(bodies.length, (item): Write => {
			const target = newRecordAt(execution, item);
			const body = orThrow(bodies[item]!);
			// It is unknown which record matches, so items keep their order, and a repeated write may create another record.
			if (!match || !matching) return { ...target, body, isRepeatable: false, mayExist: true };
			const value = matchValue(match.name, body);
			if (value === undefined) throw new Error(noMatchValue(match.name));
			// Keeps writes in order, also in a service that ignores case without saying so.
			return { ...target, body, query: { [matching.name]: match.name }, mayExist: true, match: `${match.name}=${foldedText(value)}` };
		});
		if (match && matching) reportRepeated(execution.api.notices, match, items);
		const byStatus = withOutcome(resultFrom, ({ status }) => outcomes[status]);
		return { description, items, resultFrom: description.reportsCreated ? byStatus : resultFrom };
	},
};

async function matchField(execution: Execution, fields: Field[], name: string): Promise<Field> {
	const isCustom = customKeyOf(name) !== undefined;
	const custom = isCustom ? await readCustomFieldsIfAllowed(execution.api, collectionPath(execution, 0)) : undefined;
	return [...fields, ...(custom?.fields ?? [])].find((field) => field.name === name) ?? fieldNamed(name);
}

/** Tells the user of items that overwrite each other. */
function reportRepeated(notices: Set<string>, match: Field, items: Array<Write | Error>): void {
	const lastItems = new Map<string, number>();
	const repeated: string[] = [];
	for (const [item, write] of items.entries()) {
		if (write instanceof Error) continue;
		const value = matchValue(match.name, write.body!)!;
		const record = `${write.path} ${matchKey(match, value)}`;
		const earlier = lastItems.get(record);
		if (earlier !== undefined) repeated.push(`${earlier} and ${item} (${value})`);
		lastItems.set(record, item);
	}
	if (repeated.length === 0) return;
	const examples = repeated.slice(0, maxExamples).join(', ');
	const more = repeated.length > maxExamples ? `, and ${repeated.length - maxExamples} more` : '';
	notices.add(`Items with the same value to match on change one record, and the last one wins: ${examples}${more}.`);
}

const maxExamples = 5;

/** What the status of an answer tells about the record (RFC 9110, section 9.3.4). */
const outcomes: Record<number, string> = { 200: 'updated', 201: 'created' };

/** Adds its outcome to a record, unless it has a field of that name. */
const withOutcome = (
	resultFrom: ResultFrom,
	outcomeOf: (answer: Parameters<ResultFrom>[1]) => string | undefined,
): ResultFrom => (record, answer) => {
	const outcome = outcomeOf(answer);
	return resultFrom(outcome === undefined || outcomeField in record ? record : { ...record, [outcomeField]: outcome }, answer);
};

/**
 * Creates or updates records by their names, which the service does not match on: the records are looked up first, without
 * regard to case and accents, and then updated or created.
 */
async function upsertByName(
	execution: Execution,
	field: Field,
	bodies: Array<IDataObject | Error>,
	resultFrom: ResultFrom,
): Promise<Writes> {
	const { api, resource } = execution;
	const [create, update] = [await requireDescribed(execution, 'create'), await requireDescribed(execution, 'update')];
	const nameIn = (body: IDataObject) => visibleText(String(body[field.name] ?? ''));
	const textOf = (name: string) => textOfName(field.name, name);
	const texts = new Set<string>();
	const firstItems = new Map<string, number>();
	for (const [item, body] of bodies.entries()) {
		const name = body instanceof Error ? '' : nameIn(body);
		if (name === '') continue;
		texts.add(textOf(name));
		getOrCreate(firstItems, normalizedName(name), () => item);
	}
	const lookedUp = texts.size > 0 ? await lookUpNames(api, collectionPath(execution, 0), [...texts]) : undefined;

	const items = await readEach(bodies.length, (item): Write => {
		const { collection, path } = newRecordAt(execution, item);
		const body = orThrow(bodies[item]!);
		const name = nameIn(body);
		const refuse = (problem: string) => new FieldError(field, problem);
		if (name === '') throw refuse('the name to match on is empty.');
		const outcome = lookedUp?.get(textOf(name));
		if (outcome && 'found' in outcome) {
			const id = String(outcome.found);
			return { collection, path: path + pathOf`/${id}`, id, body };
		}
		if (outcome && 'several' in outcome) {
			const ids = outcome.several.slice(0, 5).map(String).join(', ');
			throw refuse(`several records of ${resource.name} are called “${name}”: ${ids}. Update the right one by its ID.`);
		}
		if (!outcome || !('notFound' in outcome)) throw refuse(`“${name}” could not be looked up, so nothing was written.`);
		const first = firstItems.get(normalizedName(name)) ?? item;
		if (first !== item) throw refuse(`item ${first} creates “${name}”. Give each record in one item.`);
		return { description: create, collection, path, body };
	});
	const outcomeOf = ({ write }: { write: Write }) => (write.id === undefined ? 'created' : 'updated');
	return { description: update, items, resultFrom: withOutcome(resultFrom, outcomeOf) };
}
