import type { Connection } from '../api/connection';
import { listed } from '../values/listed';
import type { Field } from '../fields/field';

/** Tells the user which mapped values were not sent, in one notice per reason. */
export interface UnsentValues {
	/** A name that belongs to no field. @throws Error where the service's own fields could not be read */
	unknown(name: string): void;
	/** A custom field whose name means a read-only field. */
	onlyRead(field: Field): void;
	/** The name of an object whose value is not an object. */
	noObject(name: string): void;
	/** A field whose expression gave no value (undefined), as a mistyped path does. */
	noValue(field: Field): void;
}

/** @param others known names that belong to no field */
export function unsentValues(api: Connection, others: ReadonlySet<string>): UnsentValues {
	const { notices } = api;
	const noValue = noticeOf(
		notices,
		(labels) =>
			`Not sent for at least one item because the expression returned undefined: ${labels}. Check the expression. To clear a field, return null.`,
	);
	const onlyRead = noticeOf(
		notices,
		(names) => `Not sent because these names belong to read-only fields. To write the custom fields of the same name, use ${names}.`,
	);
	const unknown = noticeOf(
		notices,
		(names) =>
			`Not sent because the service has no such field: ${names}. Correct the names (in a file, the header of the column), or reopen the node to reload its fields.`,
	);
	return {
		unknown(name) {
			if (others.has(name)) return;
			api.requireDescription(`The field ${name}`);
			unknown(name);
		},
		noObject: noticeOf(
			notices,
			(names) =>
				`Not sent because the value is not an object such as { "key": "value" }: ${names}.`,
		),
		noValue: ({ label }) => noValue(label),
		onlyRead: ({ name }) => onlyRead(name),
	};
}

/**
 * The error of an item that has values, but none that can be sent.
 *
 * @param names the item's own
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

/** The error of an item whose values are all blank, where blank values are left out. */
export function onlyBlanks(labels: string[]): Error {
	return new Error(
		`The item’s values are blank (${listed(labels, 5)}), so nothing was sent. To clear fields with them, set the option Empty Cells.`,
	);
}

/** Maximum number of names in one notice; the rest are counted. */
const maxNamed = 10;

/** @returns adds a name to the notice */
function noticeOf(notices: Set<string>, words: (names: string) => string): (name: string) => void {
	const seenNames = new Set<string>();
	const listedNames: string[] = [];
	let notice: string | undefined;
	return (name) => {
		if (seenNames.has(name)) return;
		seenNames.add(name);
		if (listedNames.length < maxNamed) listedNames.push(name);
		if (notice !== undefined) notices.delete(notice);
		const more = seenNames.size - listedNames.length;
		notice = words(listedNames.join(', ') + (more > 0 ? ` and ${more} more` : ''));
		notices.add(notice);
	};
}
