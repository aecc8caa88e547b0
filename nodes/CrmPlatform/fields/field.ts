import type { Collection } from '../api/http/path';
import { safeRegExp } from '../base/pattern';
import { orThrow, resultOrError } from '../base/results';

/** The kinds of fields, in order of precedence: a schema gets the first kind that describes it, so general kinds come last. */
export const kindsByPrecedence = [
	/** Several plain values. */
	'list',
	'boolean',
	'choice',
	'number',
	/** An object, or a list of them. */
	'json',
	'date',
	'dateTime',
	'text',
	/** Values of several types, or of an undescribed one: sent unchanged. */
	'any',
] as const;

/** The type of a field's values. Everything that depends on it is in the table `fieldKinds`. */
export type FieldKind = (typeof kindsByPrecedence)[number];

export const unknownCollection: Collection = '/';

/** One value of a record that a user can write or filter by. */
export interface Field {
	/** Dotted for a member of an object: `address.street`. */
	name: string;
	/** Its place in the JSON body: `['address', 'street']`. */
	path: string[];
	label: string;
	description: string;
	kind: FieldKind;
	required: boolean;
	/** For links: the collection of the linked records; `unknownCollection` if any record may be linked. */
	target?: Collection;
	/** For links to parts of records: the member that lists the parts, such as `stages`. */
	part?: string;
	/** For links such as `{ resource: 'contacts', id }`, and filters by them (`contacts:con_…`): the collections of the records. */
	linksTo?: Collection[];
	/** The collections of records to which something within its objects or lists links, such as `participants[].contact_id`. */
	linksWithin?: Collection[];
	/** Whether it is one of the fields people use most, if the description says so. */
	important?: true;
	/** For custom fields: the type in their definition, such as `long_text`. */
	customType?: string;
	/** Whether two records cannot have the same value, if known. */
	unique?: boolean;
	/**
	 * The places of texts that the service keeps in lower case (`x-lower-case`): empty for the field's own
	 * value, `*` for those of a list, `*.value` for a member of its objects.
	 */
	lowerCase?: string[];
	/** Whether it is a web address: two notations may be the same address. */
	isUrl?: true;
	/** Regular expression that text, or each text of a list, has to match. */
	pattern?: string;
	/** For choices, and lists of choices. */
	choices?: Array<{ label: string; value: string | number | boolean }>;
	/** Whether other values are allowed beside the choices. */
	isOpen?: true;
	/** Format of a text as the description names it, such as `email`. */
	format?: string;
	/** Maximum characters of a text. */
	maxLength?: number;
	isInteger?: true;
	minimum?: number;
	maximum?: number;
	/** For a list of objects: the members with plain values. */
	members?: Field[];
	/** For a list: the kind of its values, if each is converted like a single value. */
	items?: FieldKind;
}

/** The member of a record that contains its custom fields, and the field for all of them at once. */
export const allCustomFields = 'custom_fields';

/** Prefix of the names of custom fields: `custom_fields.<key>`. */
export const customFieldPrefix = `${allCustomFields}.`;

export const customKeyOf = (name: string): string | undefined =>
	name.startsWith(customFieldPrefix) ? name.slice(customFieldPrefix.length) : undefined;

export const currencyName = 'currency';

/** A value from the user or an input item, and its field. */
export interface InputValue {
	field: Field;
	value: unknown;
}

/** A value in the form that the service takes, and its field. A name of a record may still stand for its id. */
export interface ConvertedValue {
	field: Field;
	converted: unknown;
	/** The collections in which its texts are names, created if missing: also those of rows *By Name* beside one that creates. */
	newNamesOf?: ReadonlySet<Collection> | undefined;
}

/** A field that no description has: of text and optional, except for `more`. */
export function fieldNamed(name: string, more: Partial<Field> = {}): Field {
	return { name, path: name.split('.'), label: name, description: '', kind: 'text', required: false, ...more };
}

/** Whether the form requires a value: a linked record may be picked beside the form instead. */
export const isRequiredInForm = ({ required, target, linksTo }: Field): boolean =>
	required && target === undefined && !linksTo;

/** `created_at` → `Created At`, for documents without titles. */
export function labelFor(name: string): string {
	const spaced = name.replace(/[_.-]+/g, ' ').replace(/([a-z\d])([A-Z])/g, '$1 $2').trim();
	return spaced.replace(/(^|\s)\S/g, (letter) => letter.toUpperCase());
}

/** The field for a record's id, by which operations find records: descriptions do not list it among the fields to write. */
export const idField: Field = fieldNamed('id', { label: 'ID', unique: true });

export const externalId: Field = fieldNamed('external_id');

/** The external ID of a record of another system: `hubspot:9001`. */
export const sourceId = (source: string, id: unknown): string => `${source}:${String(id).trim()}`;

/** Whether a text matches the pattern of a field; undefined if the field has no readable pattern. */
export const matchesPattern = ({ pattern }: Field, value: string): boolean | undefined =>
	pattern === undefined ? undefined : safeRegExp(pattern)?.test(value);

/** A value cannot be sent for its field. */
export class FieldError extends Error {
	/** @param problem in the user's words; the message is the field's label and the problem */
	constructor({ label }: Pick<Field, 'label'>, problem: string) {
		super(`${label}: ${problem}`);
	}
}

/** Reads a value. @returns the error if the value cannot be sent */
export function fieldErrorOr<Value>(read: () => Value): Value | FieldError {
	const result = resultOrError(read);
	return result instanceof FieldError ? result : orThrow(result);
}
