import { isObject } from '../../base/json';
import { labelFor, type Field } from '../../fields/field';
import { fieldKinds } from '../../fields/fieldKinds';

/** A reference from one record to another. */
export interface Link {
	/** Its name in stored workflows: `company_id`, `links: contacts`. */
	name: string;
	label: string;
	/** The field that holds the reference. */
	field: Field;
	/** The other record's collection, such as `companies`. */
	resource: string;
	/** The member of the other record whose items can be chosen, such as a pipeline's `stages`. */
	part?: string;
	/** Whether the field holds several references. */
	isOneOfMany: boolean;
	/** The value of the field for a record. */
	valueFor(id: unknown): unknown;
}

/** The references that records with these fields can have. */
export function linksOf(fields: Field[]): Link[] {
	return fields.flatMap((field): Link[] => {
		const { name, label, kind, reference, part, linksTo = [] } = field;
		if (reference !== undefined) {
			const place = { resource: reference, ...(part !== undefined && { part }) };
			return [{ name, label, field, ...place, isOneOfMany: fieldKinds[kind].shape === 'list', valueFor: (id) => id }];
		}
		return linksTo.map((resource) => ({
			name: `${name}: ${resource}`,
			label: `${label}: ${labelFor(resource)}`,
			field,
			resource,
			isOneOfMany: true,
			valueFor: (id) => ({ resource, id }),
		}));
	});
}

/** Whether the values of a field are ids of other records, not of their parts. */
export const refersToRecords = ({ reference, part, linksTo }: Field): boolean =>
	(reference !== undefined && part === undefined) || linksTo !== undefined;

/** Whether the values of a field are ids of other records, or of their parts. */
export const refersToOthers = ({ reference, linksTo }: Field): boolean => reference !== undefined || linksTo !== undefined;

/**
 * A copy of the value of a field that refers to other records, with each id replaced.
 *
 * @param replace called with the collection of the other record, such as `companies`, and the id
 */
export function withReplacedIds(
	{ reference, linksTo }: Field,
	value: unknown,
	replace: (collection: string, id: unknown) => unknown,
): unknown {
	if (value === null || value === undefined) return value;
	const all = (replaced: (item: unknown) => unknown) => (Array.isArray(value) ? value.map(replaced) : replaced(value));
	if (reference !== undefined) return all((id) => replace(reference, id));
	return all((link) => {
		const collection = isObject(link) ? link.resource : undefined;
		const isLink = typeof collection === 'string' && linksTo?.includes(collection);
		return isLink ? { ...(link as object), id: replace(collection, (link as { id?: unknown }).id) } : link;
	});
}
