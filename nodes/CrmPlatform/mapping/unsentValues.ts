import type { Connection } from '../api/connection';
import { listed } from '../base/lists';
import { onceFor } from '../base/maps';
import type { Field } from '../fields/field';

type UnsentReason =
	/** The name belongs to no field. */
	| 'unknown'
	/** It is that of a custom field, and of a read-only field. */
	| 'readOnly'
	/** Its value is not an object, and its members would be fields. */
	| 'notObject'
	/** Its expression returned undefined, as a mistyped path does. */
	| 'noValue';

export interface UnsentValue {
	reason: UnsentReason;
	/** The name of the value, or the label of its field. */
	name: string;
}

const unsentNames = onceFor<Connection, Set<string>, UnsentReason>(() => new Set());

/** Tells the user which mapped values were not sent, with one notice per reason. */
export function reportUnsent(api: Connection, { reason, name }: UnsentValue): void {
	const names = unsentNames(api, reason);
	if (names.has(name)) return;
	api.notices.delete(noticeTexts[reason](namesIn(names)));
	names.add(name);
	api.notices.add(noticeTexts[reason](namesIn(names)));
}

/** The error of an item with values of a model that are not sent: it would take a success to cover them. */
export class UnsentValuesError extends Error {
	/** @param operation its name. @param fields that it takes */
	constructor(operation: string, fields: Field[], unsent: UnsentValue[]) {
		const texts = [...new Set(unsent.map(({ reason }) => reason))].map((reason) => {
			const names = namesIn(new Set(unsent.flatMap((value) => (value.reason === reason ? [value.name] : []))));
			return reason === 'unknown' ? `${operation} does not take ${names}.` : noticeTexts[reason](names);
		});
		super(`${texts.join(' ')} ${operation} takes ${fields.slice(0, 60).map(({ name }) => name).join(', ')}.`);
	}
}

/** Maximum number of names in one notice; the rest are counted. */
const maxNamed = 10;

function namesIn(names: ReadonlySet<string>): string {
	const more = names.size - maxNamed;
	return [...names].slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const noticeTexts: Record<UnsentReason, (names: string) => string> = {
	unknown: (names) => `Not sent because the CRM has no such field: ${names}. Correct the names (in a file, the header of the column), or reopen the node to reload its fields.`,
	readOnly: (names) => `Not sent because these names belong to read-only fields. To write the custom fields of the same name, use ${names}.`,
	notObject: (names) => `Not sent because the value is not an object such as { "key": "value" }: ${names}.`,
	noValue: (labels) => `Not sent for at least one item because the expression returned undefined: ${labels}. Check the expression. To clear a field, return null.`,
};

/** The error of an item that has values, but none that can be sent. @param names of its values */
export function nothingToSend(names: string[], fields: Field[]): Error {
	if (fields.length === 0) {
		return new Error('The API description does not list the fields for this operation, so nothing was sent. Use API Request of the node CRM Platform Admin instead.');
	}
	return new Error(`None of the item’s values match a field, so nothing was sent. The item has ${listed(names, 5)}; the fields are ${listed(fields.map(({ name }) => name), 5)}. Rename the values, or map each field.`);
}

export function inventedFields(names: string[], fields: Field[]): Error {
	return new Error(`There is no field ${listed(names, 5)}, so nothing was sent. The fields are ${listed(fields.map(({ name }) => name), 60)}.`);
}

export function onlyBlanks(labels: string[], areModels: boolean): Error {
	const advice = areModels ? 'To clear a field, send null.' : 'To clear fields with them, set the option Empty Cells.';
	return new Error(`The item’s values are blank (${listed(labels, 5)}), so nothing was sent. ${advice}`);
}
