import type { IDataObject } from 'n8n-workflow';

import type { WriteDescription } from '../api/openapi/writing';
import { collectionPath } from '../mapping/locator';
import { outcomeField } from '../api/answeredRecord';
import { readFields } from '../mapping/readFields';
import { matchingColumn } from '../mapping/stored';
import type { Execution, Operation } from '../model';
import { batchOptions } from '../parameters/batchOptions';
import { blankNotices, emptyCellsOption, fieldsMatchOn, fieldsProperties } from '../parameters/fieldParameters';
import { simplifyProperty } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { writeRecords } from '../writing/batches';
import { describedWrite } from '../writing/describedOperation';
import { checkedMatch, matchValue, noMatchValue } from '../writing/matchOn';
import { writeOncePerOption } from '../writing/oncePer';
import type { Write } from '../writing/writeOrder';
import { requireAnyValue } from '../writing/presets';

/** @param action the entry in n8n's list of actions, such as `Create or update a contact` */
export function upsert(action: string): Operation {
	return {
		option: {
			name: 'Create or Update',
			value: 'upsert',
			action,
			description: 'Create a new record, or update the current one if it already exists (upsert)',
		},

		properties: (resource) => [
			fieldsMatchOn,
			...fieldsProperties(resource),
			...blankNotices,
			simplifyProperty,
		],
		options: [...batchOptions, emptyCellsOption, writeOncePerOption],
		write: (description) => description.upsert,

		async prepare(execution) {
			const description = await describedWrite(execution);
			const fieldsOf = await readFields(execution, 'fields', description.fields, 'clear');
			const matchFor = upsertMatch(execution, 'fields', description);
			const { name } = description.match ?? {};
			const write = (item: number): Write => {
				const path = collectionPath(execution, item);
				const body = requireAnyValue(fieldsOf(item));
				const match = matchFor(item);
				if (!match || name === undefined) {
					// The record it finds is unknown, so items keep their order, and a repeated write may create another record.
					return { collection: path, path, body, hasOtherNames: true, isRepeatable: false, mayExist: true };
				}
				const query = { [name]: match.field };
				// Services take ‘Ada@…’ and ‘ada@…’ for one address. The value only keeps writes in order.
				const value = match.valueIn(body).normalize('NFC').trim().toLowerCase();
				return {
					collection: path,
					path,
					body,
					query,
					mayExist: true,
					match: `${match.field}=${value}`,
					hasOtherNames: match.mayDiffer,
				};
			};
			const simplified = await simplifyWritten(execution);
			return writeRecords(execution, description, write, (record, item, answered) =>
				simplified(description.tellsCreated ? withOutcome(record, answered.status) : record, item, answered),
			);
		},
	};
}

/** What the status of an answer tells about the record (RFC 9110, section 9.3.4). */
const outcomes: Record<number, string> = { 200: 'updated', 201: 'created' };

/** The record, with its outcome unless it has a field of that name. */
function withOutcome(record: IDataObject, status: number): IDataObject {
	const outcome = outcomes[status];
	if (outcome === undefined || outcomeField in record) return record;
	return { ...record, [outcomeField]: outcome };
}

/** The field an upsert finds the record by. */
interface UpsertMatch {
	field: string;
	/** Whether other items may match on another field. */
	mayDiffer: boolean;
	/** @throws Error in the user's words where the record has no value for the field */
	valueIn(body: IDataObject): string;
}

/**
 * The field the user chose to match on; left blank, the service's default.
 *
 * @returns reads it for an input item; undefined where the service decides
 * @throws Error from the returned function, in the user's words, where an expression gives nothing
 */
function upsertMatch(
	execution: Execution,
	parameter: string,
	{ match }: WriteDescription,
): (item: number) => UpsertMatch | undefined {
	const { mayDiffer, of } = matchingColumn(execution.n8n, parameter);
	return (item) => {
		const chosen = of(item);
		const wanted = chosen ?? (mayDiffer ? undefined : match?.whenBlank);
		if (wanted !== undefined) {
			const field = checkedMatch(execution, match, wanted);
			return { field, mayDiffer, valueIn: (body) => matchValue(field, body) ?? refuse(field) };
		}
		if (!mayDiffer) return undefined;
		throw new Error(
			`Match On is empty for this item. Choose the field that identifies a record, such as ${match?.values[0] ?? 'email'}, or correct the expression.`,
		);
	};
}

function refuse(field: string): never {
	throw new Error(noMatchValue(field));
}
