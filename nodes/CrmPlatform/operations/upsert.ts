import type { IDataObject } from 'n8n-workflow';

import { outcomeField } from '../api/record';
import { getOrCreate } from '../base/maps';
import { customKeyOf, fieldNamed } from '../fields/field';
import { matchKey } from '../fields/keys';
import { customFieldsOnce } from '../mapping/acceptedFields';
import { collectionPath } from '../mapping/locator';
import { prepareValues } from '../mapping/prepareValues';
import { storedFields } from '../mapping/storedFields';
import type { Operation, Write } from '../model';
import { blankNotices, emptyCellsOption, valuesInOption, fieldsMatchOn, fieldsProperties } from '../parameters/fieldParameters';
import { simplifyProperty, batchOptions } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { foldedText } from '../values/foldedText';
import { nameFieldsToMatchOn, upsertByName } from '../writing/upsertByName';
import { requireWrite, requireAnyValue } from '../writing/requireWrite';
import { fieldToMatchOn, matchValue, noMatchValue, MatchingColumn } from '../writing/matchOn';
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
		const bodyOf = await prepareValues(execution, storedFields(execution.n8n, 'fields'), fields, 'clear');
		const column = new MatchingColumn(execution.n8n, 'fieldsMatchOn', 'fields');
		const name = column.mayDiffer ? '' : (column.of(0) ?? '');
		const isName = nameFieldsToMatchOn.includes(name) && !matching?.values.includes(name) && fields.some((field) => field.name === name);
		if (isName) {
			const bodies = new Map<number, IDataObject>();
			const resultFrom = await simplifyWritten(execution);
			return await upsertByName(execution, { field: name, fields, bodyOf: (item) => getOrCreate(bodies, item, () => requireAnyValue(bodyOf(item))), resultFrom });
		}
		const matchFor = fieldToMatchOn(execution, column, matching);
		const noteRepeated = repeatedMatches(execution.api.notices);
		const custom = customKeyOf(name) === undefined ? undefined : await customFieldsOnce(execution.api, collectionPath(execution, 0));
		const writeOf = (item: number): Write => {
			const path = collectionPath(execution, item);
			const body = requireAnyValue(bodyOf(item));
			const field = matchFor(item);
			if (field === undefined || !matching) {
				// It is unknown which record matches, so items keep their order, and a repeated write may create
				// another record.
				return { collection: path, path, body, isRepeatable: false, mayExist: true };
			}
			const query = { [matching.name]: field };
			const value = matchValue(field, body) ?? refuse(field);
			const described = [...fields, ...(custom?.fields ?? [])].find(({ name }) => name === field) ?? fieldNamed(field);
			noteRepeated(item, `${path} ${field} ${matchKey(described, value)}`, value);
			// Keeps writes in order, also in a service that ignores case without saying so; other fields may find the same record.
			const match = column.mayDiffer ? undefined : `${field}=${foldedText(value)}`;
			return { collection: path, path, body, query, mayExist: true, match };
		};
		const simplified = await simplifyWritten(execution);
		return {
			description,
			of: writeOf,
			resultFrom: (record, item, answered) => simplified(description.tellsCreated ? withOutcome(record, answered.status) : record, item, answered),
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

function refuse(field: string): never {
	throw new Error(noMatchValue(field));
}
