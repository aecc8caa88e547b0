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
import { bodiesOfItems } from '../mapping/itemValues';
import { commonCollection, refuseDiffering } from '../mapping/sameForAll';
import { storedFields } from '../mapping/storedFields';
import type { NodeRun, Operation, Write, Writes, WrittenOutput } from '../model';
import { blankNotices, emptyCellsOption, valuesInOption, fieldsMatchOn, fieldsProperties } from '../parameters/fieldParameters';
import { batchOptions, simplifyProperty, writeOncePerOption } from '../parameters/outputParameters';
import { newRecordAt } from '../parameters/recordParameters';
import { foldedText, normalizedName, visibleText } from '../values/foldedText';
import { requireAnyValue, requireWrite, requireMatchField, chosenMatchField, fieldToMatchOn, matchValue, nameFieldsToMatchOn, noMatchValue } from '../writing/requireWrite';
import { renamedItems } from '../writing/runState';
import { chosenOutput } from '../writing/batches';

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
		const { match, fields } = description;
		refuseDiffering(run.n8n, [fieldsMatchOn]);
		const stored = storedFields(run, 'fields');
		const chosen = chosenMatchField(run, fieldsMatchOn.name, 0) ?? onlyColumn(stored.matchColumns);
		const isName = chosen !== undefined && nameFieldsToMatchOn.includes(chosen) && !match?.values.includes(chosen);
		const nameField = isName ? fields.find((field) => field.name === chosen) : undefined;
		const matchName = nameField ? undefined : requireMatchField(run, match, chosen);
		// Before linked records are created.
		const byName = nameField && { field: nameField, searched: commonCollection(run) };
		const field = matchName === undefined ? undefined : await fieldToMatchOn(run, collectionPath(run, 0), fields, matchName);
		let namedBefore: Array<Write | Error> = [];
		const check = (item: number, body: IDataObject): void => {
			requireAnyValue(body);
			if (nameField && nameIn(nameField, body) === '') throw new FieldError(nameField, 'the name to match on is empty.');
			if (field && match && matchValue(field.name, body) === undefined) throw new Error(noMatchValue(field.name));
			const named = namedBefore[item];
			if (named instanceof Error) throw named;
		};
		// The records called so are looked up again afterwards: those created may be among them.
		const beforeAdding = byName && (async (all: Array<IDataObject | Error>) => void (namedBefore = (await writesByName(run, byName, all)).writes));
		const bodies = await bodiesOfItems(run, { stored, fields, whenCleared: 'clear' }, { check, beforeAdding });
		const output: WrittenOutput = { ...(await chosenOutput(run)), upsertOutcome: description.reportsCreated ? 'byStatus' : 'unlessMatched' };
		if (byName) return { ...(await writesByName(run, byName, bodies, renamedItems(run, namesIn(byName.field, bodies)))), output };
		const writes = await resultsOrErrors(bodies.length, (item): Write => {
			const target = newRecordAt(run, item);
			const body = orThrow(bodies[item]!);
			// It is unknown which record matches, so all items keep their order.
			if (!field || !match) return { ...target, body, creates: 'ifNoneMatches' };
			const value = matchValue(field.name, body)!;
			// Keeps writes in order, also in a service that ignores case without saying so.
			return { ...target, body, query: { [match.name]: field.name }, creates: 'ifNoneMatches', orderKey: `${field.name}=${foldedText(value)}` };
		});
		if (field && match) reportRepeated(run.api.notices, field, writes);
		return { description, writes, output };
	},
};

/** @throws Error in the user's words for several: records that agree in one of them only would be overwritten */
function onlyColumn([column, ...others]: string[] = []): string | undefined {
	if (others.length === 0) return column || undefined;
	throw new Error(`Fields: the mapper has several columns to match on: ${[column, ...others].join(', ')}. Choose one of them in Match On.`);
}

const nameIn = (field: Field, body: IDataObject): string => visibleText(String(body[field.name] ?? ''));

/** The name of each item; an empty one if it is not written. */
const namesIn = (field: Field, bodies: Array<IDataObject | Error>): string[] =>
	bodies.map((body) => (body instanceof Error ? '' : nameIn(field, body)));

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
		const body = orThrow(bodies[item]!);
		const name = names[item]!;
		const refuse = (problem: string) => new FieldError(field, problem);
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
