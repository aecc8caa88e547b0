import { labelFor, type Field } from './fields';

/** A way in which one record refers to another. */
export interface Link {
	/** What the user's choice of it is stored as: `company_id`, `links: contacts`. */
	name: string;
	label: string;
	/** The field that says which record it is. */
	field: Field;
	/** The other record's collection, such as `companies`. */
	resource: string;
	/** The member of the other record whose items are meant, such as a pipeline's `stages`. */
	part?: string;
	/** Whether the record may be one of several. */
	isOneOfMany: boolean;
	/** What stands in the field for a record. */
	valueFor(id: unknown): unknown;
}

/** How records with these fields can refer to others. */
export function linksOf(fields: Field[]): Link[] {
	return fields.flatMap((field): Link[] => {
		const { name, label, kind, reference, part, linksTo = [] } = field;
		if (reference !== undefined) {
			const place = { resource: reference, ...(part !== undefined && { part }) };
			return [{ name, label, field, ...place, isOneOfMany: kind === 'list', valueFor: (id) => id }];
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
