import type { BulkOperation } from './batch.ts';
import type { Resource } from './resource.ts';

/** The words for a resource in identifiers (`CustomFields`) and in sentences (`custom fields`). */
export interface Names {
	Plural: string;
	Singular: string;
	plural: string;
	singular: string;
	/** The singular with its article: `a contact`, `an activity`. */
	withArticle: string;
}

export function namesOf({ name: path, object }: Resource): Names {
	// `custom-objects/{key}/records`, of whichever object, are custom object records.
	const name = path.replace(/s\/[^/]+\//, '-');
	const singular = object.replaceAll('_', ' ');
	return {
		Plural: pascal(name),
		Singular: pascal(object),
		plural: name.replaceAll('-', ' '),
		singular,
		withArticle: `${/^([aeio]|u(?!s))/.test(singular) ? 'an' : 'a'} ${singular}`,
	};
}

/** The id of the batch operation that corresponds to an operation on one record. */
export const batchOperationId = (operation: BulkOperation, resource: Resource): string =>
	`batch${capital(operation)}${namesOf(resource).Plural}`;

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const pascal = (text: string): string => text.replace(/(^|[-_])(\w)/g, (_, __, letter: string) => letter.toUpperCase());
