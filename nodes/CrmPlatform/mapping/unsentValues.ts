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

/** A value of an item that is not sent. */
export interface UnsentValue {
	reason: UnsentReason;
	/** The name of the value, or the label of its field. */
	name: string;
}

/** The values that were not sent for one reason. */
interface UnsentReport {
	reason: UnsentReason;
	/** The names in one text; of many, the first ones. */
	names: string;
	/** The notice for the user. */
	notice: string;
}

const unsentByConnection = new WeakMap<Connection, UnsentValueLog[]>();

/** The values that were not sent over this connection, by reason. */
export const unsentReports = (api: Connection): UnsentReport[] => (unsentByConnection.get(api) ?? []).flatMap((unsent) => unsent.reports());

interface NamesOfReason {
	all: Set<string>;
	report?: UnsentReport;
}

/** Tells the user which mapped values were not sent, with one notice per reason. */
export class UnsentValueLog {
	private readonly api: Connection;
	private readonly otherNames: ReadonlySet<string>;
	private readonly byReason = new Map<UnsentReason, NamesOfReason>();

	/** @param otherNames known names that belong to no field */
	constructor(api: Connection, otherNames: ReadonlySet<string>) {
		this.api = api;
		this.otherNames = otherNames;
	}

	reports(): UnsentReport[] {
		return [...this.byReason.values()].flatMap(({ report }) => report ?? []);
	}

	/** @throws Error if the name belongs to no field because the service's description could not be read */
	add({ reason, name }: UnsentValue): void {
		if (reason === 'unknown') {
			if (this.otherNames.has(name)) return;
			this.api.requireDescription(`The field ${name}`);
		}
		if (this.byReason.size === 0) getOrCreate(unsentByConnection, this.api, () => []).push(this);
		const named = getOrCreate(this.byReason, reason, (): NamesOfReason => ({ all: new Set() }));
		if (named.all.has(name)) return;
		named.all.add(name);
		const { notices } = this.api;
		if (named.report) notices.delete(named.report.notice);
		const more = named.all.size - maxNamed;
		const names = [...named.all].slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
		named.report = { reason, names, notice: noticeTexts[reason](names) };
		notices.add(named.report.notice);
	}
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

/** Maximum number of names in one notice; the rest are counted. */
const maxNamed = 10;
