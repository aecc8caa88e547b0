import type { Connection } from '../api/connection';
import { getOrCreate } from '../base/maps';
import { listed } from '../base/lists';
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

/** The names of the values that were not sent over a connection, by reason. */
const unsentNames = new WeakMap<Connection, Map<UnsentReason, Set<string>>>();

/**
 * Tells the user which mapped values were not sent, with one notice per reason.
 *
 * @throws Error if the name belongs to no field because the service's description could not be read
 */
export function reportUnsent(api: Connection, { reason, name }: UnsentValue): void {
	if (reason === 'unknown') api.requireDescription(`The field ${name}`);
	const byReason = getOrCreate(unsentNames, api, () => new Map<UnsentReason, Set<string>>());
	const names = getOrCreate(byReason, reason, () => new Set<string>());
	if (names.has(name)) return;
	api.notices.delete(noticeTexts[reason](namesIn(names)));
	names.add(name);
	api.notices.add(noticeTexts[reason](namesIn(names)));
}

/** The values that were not sent over this connection, by reason: their names in one text, and the notice for the user. */
export const unsentReports = (api: Connection): Array<{ reason: UnsentReason; names: string; notice: string }> =>
	[...(unsentNames.get(api) ?? [])].map(([reason, names]) => ({ reason, names: namesIn(names), notice: noticeTexts[reason](namesIn(names)) }));

/** Maximum number of names in one notice; the rest are counted. */
const maxNamed = 10;

function namesIn(names: ReadonlySet<string>): string {
	const more = names.size - maxNamed;
	return [...names].slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const noticeTexts: Record<UnsentReason, (names: string) => string> = {
	unknown: (names) =>
		`Not sent because the CRM has no such field: ${names}. Correct the names (in a file, the header of the column), or reopen the node to reload its fields.`,
	readOnly: (names) =>
		`Not sent because these names belong to read-only fields. To write the custom fields of the same name, use ${names}.`,
	notObject: (names) =>
		`Not sent because the value is not an object such as { "key": "value" }: ${names}.`,
	noValue: (labels) =>
		`Not sent for at least one item because the expression returned undefined: ${labels}. Check the expression. To clear a field, return null.`,
};

/**
 * The error of an item that has values, but none that can be sent.
 *
 * @param names of the item's values
 */
export function nothingToSend(names: string[], fields: Field[]): Error {
	if (fields.length === 0) {
		return new Error(
			'The API description does not list the fields for this operation, so nothing was sent. Use API Request of the node CRM Platform Admin instead.',
		);
	}
	return new Error(
		`None of the item’s values match a field, so nothing was sent. The item has ${listed(names, 5)}; the fields are ${listed(fields.map(({ name }) => name), 5)}. Rename the values, or map each field.`,
	);
}

/** The error for values under names that a model has invented. */
export function inventedFields(names: string[], fields: Field[]): Error {
	return new Error(
		`There is no field ${listed(names, 5)}, so nothing was sent. The fields are ${listed(fields.map(({ name }) => name), 60)}.`,
	);
}

/** The error of an item that has only blank values, which are left out. */
export function onlyBlanks(labels: string[], areModels: boolean): Error {
	const advice = areModels ? 'To clear a field, send null.' : 'To clear fields with them, set the option Empty Cells.';
	return new Error(`The item’s values are blank (${listed(labels, 5)}), so nothing was sent. ${advice}`);
}
