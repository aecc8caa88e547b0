import type { Connection } from '../api/connection';
import { getOrCreate } from '../base/maps';
import { listed } from '../values/listed';
import type { Field } from '../fields/field';

/** Names of values that were not sent. */
interface UnsentNames {
	reason: keyof typeof noticeTexts;
	/** The names in one text; of many, the first ones. */
	names: string;
	/** The notice for the user. */
	notice: string;
}

const unsentByConnection = new WeakMap<Connection, UnsentValues[]>();

/** The values that were not sent over this connection, by reason. */
export const unsentNames = (api: Connection): UnsentNames[] => (unsentByConnection.get(api) ?? []).flatMap((unsent) => unsent.all());

/** Tells the user which mapped values were not sent, with one notice per reason. */
export class UnsentValues {
	private readonly api: Connection;
	private readonly otherNames: ReadonlySet<string>;
	private readonly noticesByReason = new Map<UnsentNames['reason'], NamesNotice>();

	/** @param otherNames known names that belong to no field */
	constructor(api: Connection, otherNames: ReadonlySet<string>) {
		this.api = api;
		this.otherNames = otherNames;
	}

	/** Adds a name that belongs to no field. @throws Error if the service's description could not be read */
	unknown(name: string): void {
		if (this.otherNames.has(name)) return;
		this.api.requireDescription(`The field ${name}`);
		this.add('unknown', name);
	}

	/** Adds a custom field that has the name of a read-only field. */
	readOnly({ name }: Field): void {
		this.add('readOnly', name);
	}

	/** Adds the name of an object whose value is not an object. */
	notObject(name: string): void {
		this.add('notObject', name);
	}

	/** Adds a field whose expression returned undefined, as a mistyped path does. */
	noValue({ label }: Field): void {
		this.add('noValue', label);
	}

	all(): UnsentNames[] {
		return [...this.noticesByReason].map(([reason, { names, notice }]) => ({ reason, names, notice }));
	}

	private add(reason: UnsentNames['reason'], name: string): void {
		if (this.noticesByReason.size === 0) getOrCreate(unsentByConnection, this.api, () => []).push(this);
		getOrCreate(this.noticesByReason, reason, () => new NamesNotice(this.api.notices, noticeTexts[reason])).add(name);
	}
}

const noticeTexts = {
	unknown: (names: string): string =>
		`Not sent because the CRM has no such field: ${names}. Correct the names (in a file, the header of the column), or reopen the node to reload its fields.`,
	readOnly: (names: string): string =>
		`Not sent because these names belong to read-only fields. To write the custom fields of the same name, use ${names}.`,
	notObject: (names: string): string =>
		`Not sent because the value is not an object such as { "key": "value" }: ${names}.`,
	noValue: (labels: string): string =>
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
	private readonly allNames = new Set<string>();
	private readonly listedNames: string[] = [];
	names = '';
	notice = '';

	constructor(notices: Set<string>, textFor: (names: string) => string) {
		this.notices = notices;
		this.textFor = textFor;
	}

	add(name: string): void {
		if (this.allNames.has(name)) return;
		this.allNames.add(name);
		if (this.listedNames.length < maxNamed) this.listedNames.push(name);
		this.notices.delete(this.notice);
		const more = this.allNames.size - this.listedNames.length;
		this.names = this.listedNames.join(', ') + (more > 0 ? ` and ${more} more` : '');
		this.notice = this.textFor(this.names);
		this.notices.add(this.notice);
	}
}
