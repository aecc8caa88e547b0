import { z } from 'zod/v4';
import type { FieldError } from '../problem.ts';
import type { About } from './fields.ts';
import { type JsonSchema, jsonSchema } from './json-schema.ts';

type Fields = Record<string, z.ZodType>;
type Values<F extends Fields> = z.output<z.ZodObject<F>>;
type Name<F> = keyof F & string;

/** What rules may know beside the record itself. */
export interface RuleContext {
	/** The instant of the change. */
	at: string;
	/** Who makes the change. */
	actor: { type: string; id: string };
	newId(prefix: string): string;
	/** A live record, if the caller may see it. */
	find(resource: string, id: string): StoredRecord | undefined;
	/** How many live records there are, whoever may see them. */
	count(resource: string): number;
	/** One more than the highest number in a field, deleted records included. */
	next(resource: string, field: string): number;
	/**
	 * Live records with this value in a field, whoever may see them; at most `limit`, or 100. Do not
	 * tell which ones.
	 */
	findBy(
		resource: string,
		field: string,
		value: string | number | boolean,
		limit?: number,
	): StoredRecord[];
}

/** The states that records are in. */
export interface States<F extends Fields> {
	/** The field that holds the state. */
	field: Name<F>;
	/** What each state may become. */
	moves: Record<string, readonly string[]>;
	/** The states that records leave by themselves. */
	passing?: {
		states: string[];
		/**
		 * The next step of a record in one of these states, and its instant.
		 *
		 * @param since the instant of the last change
		 */
		next(record: Values<F>, since: string): { at: string; change: Record<string, unknown> };
	};
}

/** A change of another record, in fields that clients may or may not set. */
export interface Consequence {
	resource: string;
	id: string;
	change: Record<string, unknown>;
}

/** Something that happens to records beside being created, updated and deleted. */
export interface Happening<F extends Fields> {
	/** `A deal was won.` */
	description: string;
	/** Whether a change of a record is one; absent if it comes from no change. */
	when?(record: Values<F>, previous: Values<F> | undefined): boolean;
}

/** Something to do to a record that is more than setting fields. */
export interface Action<F extends Fields> {
	/** `Win a deal` */
	summary: string;
	description: string;
	/** What the body may have; there is none if this is absent. */
	input?: Fields;
	/** The fields that change, among them those that clients cannot set themselves. */
	change(
		record: Values<F>,
		input: Record<string, unknown>,
		context: RuleContext,
	): Partial<Values<F>>;
}

/** Who sees a record, beside administrators and API keys, who see all. */
export type Visibility<F extends Fields> =
	| 'everyone'
	/** The user who created it. */
	| 'maker'
	/** The user in this field; everyone where it is empty. */
	| { owner: Name<F> }
	/** The user in the first field, and whoever sees one of the records that the others name. */
	| { user: Name<F>; through: Array<Name<F>> };

/** All there is to say about one kind of record: its fields and its rules. */
export interface Definition<F extends Fields> {
	/** As in the path: `/v1/custom-fields`. */
	name: string;
	/** The value of `object` in its records: `custom_field`. */
	object: string;
	/** What its ids begin with. */
	idPrefix: string;
	description: string;
	visibility: Visibility<F>;
	/** The table of its records, if it is not named after the resource. */
	table?: string;
	/** In the order in which a form shows them. */
	fields: F;
	/**
	 * Some eight fields that people use first: the required, identifying and most common ones. They
	 * are marked `x-important`, as Power Platform marks them `x-ms-visibility: important`.
	 */
	important: Array<Name<F>>;
	/** What no two live records share: the name to match on, and the fields that make it up. */
	unique: Record<string, Array<Name<F>>>;
	/** Fields to sort by, beside id, created_at and updated_at. Each one is indexed. */
	sortable: Array<Name<F>>;
	/** Fields that `q` looks into. */
	searched: Array<Name<F>>;
	/** Fields by which a few records are found among many, beside the unique ones; indexed too. */
	lookups: Array<Name<F>>;
	/** The fields that follow from others. Of a new record, read-only fields are not there yet. */
	complete?(
		values: Values<F>,
		previous: Values<F> | undefined,
		context: RuleContext,
	): Partial<Values<F>>;
	/** What the schema alone cannot tell. */
	check?(values: Values<F>, previous: Values<F> | undefined, context: RuleContext): FieldError[];
	states?: States<F>;
	/** How other records change with this one, after it is saved. */
	consequences?(
		record: Values<F>,
		previous: Values<F> | undefined,
		context: RuleContext,
	): Consequence[];
	/** What can be done to a record, by name in the path: `/v1/deals/{id}/win`. */
	actions?: Record<string, Action<F>>;
	/** What the service tells of a record, by the last part of the event's type: `deal.won`. */
	events?: Record<string, Happening<F>>;
	/** What the types of its events begin with; the object if not said otherwise. */
	eventPrefix?: string;
	/** What in words still needs the record, which therefore cannot be deleted; undefined if nothing. */
	usedBy?(record: Values<F>, context: RuleContext): string | undefined;
	/** Of users: whether this one may no longer sign in, so that their sessions and grants end. */
	endsAccess?(record: Values<F>): boolean;
	/** What is deleted with the record. */
	deletedWith?(record: Values<F>, context: RuleContext): Array<{ resource: string; id: string }>;
	/** What deleting changes, for records that stay. */
	insteadOfDeletion?: Partial<Values<F>>;
}

export interface Resource extends Definition<Fields> {
	/** Parses what a client may set, whole: unknown fields are errors, absent ones get defaults. */
	input: z.ZodObject;
	/** Every field of a record, described. */
	properties: Record<string, JsonSchema>;
}

/** A record as it is stored and answered. */
export interface StoredRecord extends Record<string, unknown> {
	id: string;
	version: number;
	created_at: string;
	updated_at: string;
	deleted_at: string | null;
}

export function defineResource<F extends Fields>(definition: Definition<F>): Resource {
	const fields = Object.entries<z.ZodType>(definition.fields).map(([name, schema]) => {
		const isImportant = definition.important.includes(name);
		const marked = isImportant ? schema.meta({ ...schema.meta(), 'x-important': true }) : schema;
		return [name, marked] as const;
	});
	const writable = fields.filter(([, schema]) => !about(schema).readOnly);
	return {
		...(definition as unknown as Definition<Fields>),
		fields: Object.fromEntries(fields),
		input: z.strictObject(Object.fromEntries(writable)),
		properties: jsonSchema(z.object(Object.fromEntries(fields)), 'output').properties ?? {},
	};
}

/** A record with all its fields: the id first, the others in the order of the resource. */
export function arrangeRecord(resource: Resource, values: StoredRecord): StoredRecord {
	const record: Record<string, unknown> = { id: values.id, object: values['object'] };
	for (const name of Object.keys(resource.properties)) record[name] = values[name] ?? null;
	return record as StoredRecord;
}

export const hasCustomFields = (resource: Resource): boolean =>
	'custom_fields' in resource.properties;

export const isReadOnly = (resource: Resource, field: string): boolean =>
	resource.properties[field]?.readOnly === true;

export const isImmutable = (resource: Resource, field: string): boolean =>
	resource.properties[field]?.['x-immutable'] === true;

const about = (schema: z.ZodType): Partial<About> => (schema.meta() ?? {}) as Partial<About>;
