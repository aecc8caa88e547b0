import type { IDataObject } from 'n8n-workflow';

import { encodedPath, type Collection } from '../api/http/path';
import { requireDescribed } from '../api/requireDescribed';
import { listed } from '../base/lists';
import { orThrow, resultsOrErrors } from '../base/results';
import { type Field, FieldError } from '../fields/field';
import { matchKey } from '../fields/keys';
import { lookUpNames } from '../lookUp/byName';
import { textOfName } from '../lookUp/names';
import { collectionPath } from '../mapping/locator';
import { bodiesOf, bodiesOfItems, valuesOfItems } from '../mapping/itemValues';
import type { Mapping } from '../mapping/readItems';
import { commonCollection, refuseDiffering } from '../mapping/sameForAll';
import { storedFields } from '../mapping/storedFields';
import type { NodeRun, Operation, Write, Writes, WrittenOutput } from '../model';
import { blankNotices, emptyCellsOption, valuesInOption, fieldsMatchOn, fieldsProperties } from '../parameters/fieldParameters';
import { batchOptions, simplifyProperty, writeOncePerOption } from '../parameters/outputParameters';
import { newRecordAt } from '../parameters/recordParameters';
import { foldedText, normalizedName, visibleText } from '../values/foldedText';
import { requireAnyValue, requireWrite, requireMatchField, chosenMatchField, fieldToMatchOn, matchValue, nameFieldsToMatchOn, noMatchValue } from '../writing/requireWrite';
import { renamedItems } from '../writing/batches';
import { chosenOutput } from '../writing/sendAlone';

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

	async prepare(run) {
		const description = await requireWrite(run);
		const { match, fields, reportsCreated } = description;
		refuseDiffering(run.n8n, [fieldsMatchOn]);
		const mapping: Mapping = { stored: storedFields(run, 'fields'), fields, whenCleared: 'clear' };
		const chosen = chosenMatchField(run, fieldsMatchOn.name, 0) ?? onlyColumn(mapping.stored.matchColumns);
		const nameField = fields.find(({ name }) => name === chosen && nameFieldsToMatchOn.includes(name) && !match?.values.includes(name));
		const output: WrittenOutput = { ...(await chosenOutput(run)), upsertOutcome: reportsCreated ? 'byStatus' : 'unlessMatched' };
		if (nameField) return { ...(await prepareByName(run, mapping, nameField)), output };
		return { description, writes: await writesByMatch(run, mapping, description, chosen), output };
	},
};

/** @throws Error in the user's words for several: records that agree in one of them only would be overwritten */
function onlyColumn([column, ...others]: string[] = []): string | undefined {
	if (others.length === 0) return column || undefined;
	throw new Error(`Fields: the mapper has several columns to match on: ${[column, ...others].join(', ')}. Choose one of them in Match On.`);
}

/** The service finds the records: by a field, or as it decides. */
async function writesByMatch(run: NodeRun, mapping: Mapping, { match }: Writes['description'], chosen: string | undefined) {
	const matchName = requireMatchField(run, match, chosen);
	const field = matchName === undefined ? undefined : await fieldToMatchOn(run, collectionPath(run, 0), mapping.fields, matchName);
	const check = (_: number, body: IDataObject): void => {
		requireAnyValue(body);
		if (field && matchValue(field.name, body) === undefined) throw new Error(noMatchValue(field.name));
	};
	const bodies = await bodiesOfItems(run, mapping, check);
	const writes = await resultsOrErrors(bodies.length, (item): Write => {
		const target = newRecordAt(run, item);
		const body = orThrow(bodies[item]!);
		// It is unknown which record matches, so all items keep their order.
		if (!field || !match) return { ...target, body, creates: 'ifNoneMatches' };
		const value = matchValue(field.name, body)!;
		// Keeps writes in order, also in a service that ignores case without saying so.
		return { ...target, body, query: { [match.name]: field.name }, creates: 'ifNoneMatches', orderKey: `${field.name}=${foldedText(value)}` };
	});
	if (field) reportRepeated(run.api.notices, field, writes);
	return writes;
}

/** The name of each item; an empty one if it is not written. */
const namesIn = (field: Field, bodies: Array<IDataObject | Error>): string[] =>
	bodies.map((body) => (body instanceof Error ? '' : visibleText(String(body[field.name] ?? ''))));

function reportRepeated(notices: Set<string>, field: Field, writes: Array<Write | Error>): void {
	const lastItems = new Map<string, number>();
	const repeated: string[] = [];
	for (const [item, write] of writes.entries()) {
		if (write instanceof Error) continue;
		const value = matchValue(field.name, write.body!)!;
		const record = `${write.path} ${matchKey(field, value)}`;
		const earlier = lastItems.get(record);
		if (earlier !== undefined) repeated.push(`${earlier} and ${item} (${value})`);
		lastItems.set(record, item);
	}
	if (repeated.length === 0) return;
	notices.add(`Items with the same value to match on change one record, and the last one wins: ${listed(repeated, 5)}.`);
}

/** The node finds the records, by names on which the service does not match. */
async function prepareByName(run: NodeRun, mapping: Mapping, field: Field): Promise<Omit<Writes, 'output'>> {
	// Before linked records are created.
	const byName = { field, searched: commonCollection(run) };
	const { values, add } = await valuesOfItems(run, mapping);
	let bodies = await bodiesOf(values);
	if (add) {
		// Nothing is created for an item that the look-up refuses. The records are looked up again: those created may be among them.
		const { writes } = await writesByName(run, byName, bodies);
		const refusals = writes.map((write) => (write instanceof Error ? write : undefined));
		const added = await bodiesOf(await add(refusals.map((refusal) => !refusal)));
		bodies = added.map((body, item) => refusals[item] ?? body);
	}
	return await writesByName(run, byName, bodies, renamedItems(run, namesIn(field, bodies)));
}

/**
 * Creates or updates records by their names, which the service does not match on: the records are looked up first, without
 * regard to case and accents, and then updated or created.
 */
async function writesByName(
	run: NodeRun,
	{ field, searched }: { field: Field; searched: Collection },
	bodies: Array<IDataObject | Error>,
	renamed: ReadonlySet<number> = new Set(),
): Promise<Omit<Writes, 'output'>> {
	const { create, update } = await requireDescribed(run, 'create', 'update');
	const names = namesIn(field, bodies);
	const textOf = (name: string) => textOfName(field.name, name);
	const firstItems = new Map(names.map((name, item) => [normalizedName(name), item] as const).reverse());
	const texts = new Set(names.filter((name) => name !== '').map(textOf));
	const lookedUp = await lookUpNames(run.api, searched, [...texts]);

	const writes = await resultsOrErrors(bodies.length, (item): Write => {
		const { collection, path } = newRecordAt(run, item);
		const body = requireAnyValue(orThrow(bodies[item]!));
		const name = names[item]!;
		const refuse = (problem: string) => new FieldError(field, problem);
		if (name === '') throw refuse('the name to match on is empty.');
		if (renamed.has(item)) throw refuse('an earlier attempt has sent this item by another name. Check the records, then run the workflow again.');
		const result = lookedUp.get(textOf(name));
		if (result && 'found' in result) {
			const id = String(result.found);
			return { collection, path: path + encodedPath`/${id}`, id, body };
		}
		if (result && 'several' in result) {
			const ids = listed(result.several.map(String), 5);
			throw refuse(`several records of ${run.resource.name} are called “${name}”: ${ids}. Update the right one by its ID.`);
		}
		if (!result || !('notFound' in result)) {
			const why = result && 'failed' in result ? ` (${result.failed.message})` : '';
			throw refuse(`“${name}” could not be looked up${why}, so nothing was written.`);
		}
		const first = firstItems.get(normalizedName(name))!;
		if (first !== item) throw refuse(`item ${first} creates “${name}”. Give each record in one item.`);
		return { description: create, creates: 'addition', collection, path, body };
	});
	return { description: update, writes };
}
