import type { IDataObject } from 'n8n-workflow';

import { outcomeField } from '../api/record';
import { customKeyOf, fieldNamed } from '../fields/field';
import { matchKey } from '../fields/keys';
import { readCustomFieldsIfAllowed } from '../api/customFields';
import { collectionPath } from '../mapping/locator';
import { prepareValues } from '../mapping/prepareValues';
import { refuseDiffering } from '../mapping/sameForAll';
import { storedFields } from '../mapping/storedFields';
import type { Operation, Write } from '../model';
import { blankNotices, emptyCellsOption, valuesInOption, fieldsMatchOn, fieldsProperties } from '../parameters/fieldParameters';
import { simplifyProperty, batchOptions } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { foldedText } from '../values/foldedText';
import { nameFieldsToMatchOn, upsertByName } from '../writing/upsertByName';
import { requireWrite, requireAnyValue } from '../writing/requireWrite';
import { checkedMatch, chosenMatchField, matchValue, noMatchValue } from '../writing/matchOn';
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
			resultFrom: (record, item, answered) => resultFrom(description.tellsCreated ? withOutcome(record, answered.status) : record, item, answered),
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
