import { z } from 'zod/v4';
import { getOrCreate } from '../foundation/json.ts';
import type { FieldError } from '../foundation/problem.ts';
import type { FieldMetadata } from './fields.ts';
import { type JsonSchema, jsonSchema, fieldTitle } from './json-schema.ts';
import type { Actor } from './origin.ts';

type Fields = Record<string, z.ZodType>;
type FieldValues<F extends Fields> = z.output<z.ZodObject<F>>;
type Name<F> = keyof F & string;

/** The context of a resource's rules. */
export interface RuleContext {
	/** The instant of the change. */
	at: string;
	/** Who made the change. */
	actor: Actor;
	newId(prefix: string): string;
	/** A live record, if the caller may see it. */
	find(resource: string, id: string): StoredRecord | undefined;
	/** Counts live records, regardless of visibility. */
	count(resource: string): number;
	/** One more than the highest number in a field, deleted records included. */
	next(resource: string, field: string): number;
	/**
	 * Finds live records with this value in a field, regardless of visibility.
	 * Do not reveal them to the caller.
	 */
	findBy(resource: string, field: string, value: string | number | boolean, limit?: number): StoredRecord[];
	/** Finds up to two live records with one of these addresses or numbers, regardless of visibility. */
	findByEntry(resource: string, values: string[]): StoredRecord[];
}

/** The state machine of a resource. */
interface StateMachine<F extends Fields> {
	/** The field that holds the state. */
	field: Name<F>;
	/** The states that each state may change to. */
	transitions: Record<string, readonly string[]>;
	/** The states that records leave after some time, without a request. */
	timed?: {
		states: string[];
		/**
		 * The next transition of a record in one of these states, and its instant.
		 *
		 * @param since the instant of the last change
		 */
		next(record: FieldValues<F>, since: string): { at: string; change: Record<string, unknown> };
	};
}

/** A change of another record. It may set read-only fields. */
export interface Consequence {
	resource: string;
	id: string;
	change: Record<string, unknown>;
}

/** An event of a resource other than created, updated and deleted. */
interface DomainEvent<F extends Fields> {
	/** `A deal was won.` */
	description: string;
	/** Whether a change triggers the event; absent if no change does. */
	when?(record: FieldValues<F>, previous: FieldValues<F> | undefined): boolean;
}

/** An event that reports that a record enters a status. */
export const entersStatus = (status: string, description: string) => ({
	description,
	when: (record: { status: string }, previous: { status: string } | undefined) =>
		record.status === status && previous?.status !== status,
});

/** An action on a record that does more than set fields. */
interface Action<F extends Fields> {
	/** `Win a deal` */
	summary: string;
	description: string;
	/** The fields of the request body; absent if the action takes no body. */
	input?: Fields;
	/** Whether it would change the record: the console offers no other actions. */
	isPossible?(record: FieldValues<F>): boolean;
	/** Returns the fields that change, including those that clients cannot set. */
	change(record: FieldValues<F>, input: Record<string, unknown>, context: RuleContext): Partial<FieldValues<F>>;
}

/** Who can see a record. Administrators and API keys see every record. */
type Visibility<F extends Fields> =
	| 'everyone'
	/** The user who created it. An application sees only the records that it created itself, for any of its users. */
	| 'application'
	/** The user in this field; everyone if it is empty. */
	| { owner: Name<F> }
	/** The user in the first field, and everyone who sees one of the records in the other fields. */
	| { user: Name<F>; through: Array<Name<F>> };

/** The definition of one record type: its fields and its rules. */
export interface Definition<F extends Fields> {
	/** The name in the path: `/v1/custom-fields`. */
	name: string;
	/** The value of `object` in its records: `custom_field`. */
	object: string;
	idPrefix: string;
	description: string;
	visibility: Visibility<F>;
	/** Whether only administrators can grant the scope to write: who uses the account and how it is set up depend on it. */
	isAdministrative?: true;
	/** The table of its records; by default named after the resource. */
	table?: string;
	/** The fields, in the order of forms. */
	fields: F;
	/**
	 * About eight fields that people use first: the required, identifying and most common ones. They
	 * are marked `x-important`, like `x-ms-visibility: important` of Power Platform.
	 */
	important: Array<Name<F>>;
	/**
	 * Example bodies for which the examples of the fields would be refused; for a new record, only
	 * the fields that differ.
	 */
	examples?: { create?: Record<string, unknown>; update?: Record<string, unknown> };
	/** The unique constraints among live records: the name to match on, and its fields. */
	unique: Record<string, Array<Name<F>>>;
	/** Fields to sort by, besides id, created_at and updated_at. Each one is indexed. */
	sortable: Array<Name<F>>;
	/** Fields that `q` searches. */
	searched: Array<Name<F>>;
	/** Other selective fields for lookups, besides the unique ones. Each is indexed. */
	lookups: Array<Name<F>>;
	/** Derives fields from others. A new record has no read-only fields yet. */
	complete?(values: FieldValues<F>, previous: FieldValues<F> | undefined, context: RuleContext): Partial<FieldValues<F>>;
	/** Validates what the schema cannot express. */
	check?(values: FieldValues<F>, previous: FieldValues<F> | undefined, context: RuleContext): FieldError[];
	states?: StateMachine<F>;
	/** Returns the changes of other records that follow, after this one is saved. */
	consequences?(record: FieldValues<F>, previous: FieldValues<F> | undefined, context: RuleContext): Consequence[];
	/** The actions on a record, by name in the path: `/v1/deals/{id}/win`. */
	actions?: Record<string, Action<F>>;
	/** Further events of a record, by the last part of the event's type: `deal.won`. */
	events?: Record<string, DomainEvent<F>>;
	/** The prefix of its event types; by default the value of `object`. */
	eventPrefix?: string;
	/** Explains what still uses the record, which prevents its deletion; undefined if nothing does. */
	usedBy?(record: FieldValues<F>, context: RuleContext): string | undefined;
	/** For users: whether a user with these values can no longer sign in, which ends their sessions and grants. */
	endsAccess?(record: FieldValues<F>): boolean;
	/** The records that are deleted with this one. */
	deletedWith?(record: FieldValues<F>, context: RuleContext): Array<{ resource: string; id: string }>;
	/** The change that replaces a deletion, if records are never deleted. */
	insteadOfDeletion?: Partial<FieldValues<F>>;
}

const inputs = new WeakMap<Action<Fields>, z.ZodObject>();

/** Parses the body of an action. Unknown fields are errors. */
export const actionInput = (action: Action<Fields>): z.ZodObject =>
	getOrCreate(inputs, action, () => z.strictObject(action.input ?? {}));

export interface Resource extends Definition<Fields> {
	/** Parses the complete input of a client: unknown fields are errors, absent ones get defaults. */
	input: z.ZodObject;
	/** The schema of every field of a record. */
	properties: Record<string, JsonSchema>;
	/** A record without values. Its copies share a layout in memory, so that they are read and serialized faster. */
	blank: StoredRecord;
}

/** A record as it is stored and returned. */
export interface StoredRecord extends Record<string, unknown> {
	id: string;
	version: number;
	created_at: string;
	updated_at: string;
	deleted_at: string | null;
}

/** A record with these fields. */
export type RecordOf<F extends Fields> = StoredRecord & FieldValues<F>;

export function defineResource<F extends Fields>(definition: Definition<F>): Resource {
	const fields = Object.entries<z.ZodType>(definition.fields).map(([name, schema]) => {
		const important = definition.important.includes(name) && { 'x-important': true };
		return [name, schema.meta({ ...schema.meta(), title: metadataOf(schema).title || fieldTitle(name), ...important })] as const;
	});
	const writable = fields.filter(([, schema]) => !metadataOf(schema).readOnly);
	const properties = jsonSchema(z.object(Object.fromEntries(fields)), 'output').properties ?? {};
	return {
		...(definition as unknown as Definition<Fields>),
		fields: Object.fromEntries(fields),
		input: z.strictObject(Object.fromEntries(writable)),
		properties,
		blank: blankRecord(Object.keys(properties)),
	};
}

/** A record with all its fields: the id first, the others in the order of the resource. */
export function arrangeRecord({ blank }: Resource, values: StoredRecord): StoredRecord {
	const record: StoredRecord = { ...blank };
	for (const name of Object.keys(blank)) record[name] = values[name] ?? null;
	return record;
}

export const hasCustomFields = (resource: Resource): boolean => 'custom_fields' in resource.properties;

export const isReadOnly = (resource: Resource, field: string): boolean => resource.properties[field]?.readOnly === true;

export const isImmutable = (resource: Resource, field: string): boolean =>
	resource.properties[field]?.['x-immutable'] === true;

const blankRecord = (fields: string[]): StoredRecord =>
	Object.fromEntries(['id', 'object', ...fields].map((name) => [name, null])) as StoredRecord;

const metadataOf = (schema: z.ZodType): Partial<FieldMetadata> => (schema.meta() ?? {}) as Partial<FieldMetadata>;
