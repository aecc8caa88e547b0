import type { Connection } from '../api/connection';
import { listed } from '../values/listed';
import type { Field } from '../fields/field';

/** Tells the user which mapped values were not sent, with one notice per reason. */
export class UnsentValues {
	private readonly api: Connection;
	private readonly otherNames: ReadonlySet<string>;
	private readonly unknownNames: NamesNotice;
	private readonly readOnlyNames: NamesNotice;
	private readonly namesWithoutObject: NamesNotice;
	private readonly labelsWithoutValue: NamesNotice;

	/** @param otherNames known names that belong to no field */
	constructor(api: Connection, otherNames: ReadonlySet<string>) {
		this.api = api;
		this.otherNames = otherNames;
		this.unknownNames = new NamesNotice(api.notices, unknownText);
		this.readOnlyNames = new NamesNotice(api.notices, readOnlyText);
		this.namesWithoutObject = new NamesNotice(api.notices, withoutObjectText);
		this.labelsWithoutValue = new NamesNotice(api.notices, withoutValueText);
	}

	/** Adds a name that belongs to no field. @throws Error if the service's description could not be read */
	unknown(name: string): void {
		if (this.otherNames.has(name)) return;
		this.api.requireDescription(`The field ${name}`);
		this.unknownNames.add(name);
	}

	/** Adds a custom field that has the name of a read-only field. */
	readOnly({ name }: Field): void {
		this.readOnlyNames.add(name);
	}

	/** Adds the name of an object whose value is not an object. */
	notObject(name: string): void {
		this.namesWithoutObject.add(name);
	}

	/** Adds a field whose expression returned undefined, as a mistyped path does. */
	noValue({ label }: Field): void {
		this.labelsWithoutValue.add(label);
	}
}

const unknownText = (names: string): string =>
	`Not sent because the CRM has no such field: ${names}. Correct the names (in a file, the header of the column), or reopen the node to reload its fields.`;

const readOnlyText = (names: string): string =>
	`Not sent because these names belong to read-only fields. To write the custom fields of the same name, use ${names}.`;

const withoutObjectText = (names: string): string =>
	`Not sent because the value is not an object such as { "key": "value" }: ${names}.`;

const withoutValueText = (labels: string): string =>
	`Not sent for at least one item because the expression returned undefined: ${labels}. Check the expression. To clear a field, return null.`;

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
export function onlyBlanks(labels: string[]): Error {
	return new Error(
		`The item’s values are blank (${listed(labels, 5)}), so nothing was sent. To clear fields with them, set the option Empty Cells.`,
	);
}

/** Maximum number of names in one notice; the rest are counted. */
const maxNamed = 10;

/** One notice that lists names. */
class NamesNotice {
	private readonly notices: Set<string>;
	private readonly textFor: (names: string) => string;
	private readonly names = new Set<string>();
	private readonly listedNames: string[] = [];
	private notice = '';

	constructor(notices: Set<string>, textFor: (names: string) => string) {
		this.notices = notices;
		this.textFor = textFor;
	}

	add(name: string): void {
		if (this.names.has(name)) return;
		this.names.add(name);
		if (this.listedNames.length < maxNamed) this.listedNames.push(name);
		this.notices.delete(this.notice);
		const more = this.names.size - this.listedNames.length;
		this.notice = this.textFor(this.listedNames.join(', ') + (more > 0 ? ` and ${more} more` : ''));
		this.notices.add(this.notice);
	}
}
