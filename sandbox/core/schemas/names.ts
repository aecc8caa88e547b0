import type { BulkOperation } from './batch.ts';
import type { Resource } from './resource.ts';

/** The words for a resource in identifiers (`CustomFields`) and in sentences (`custom fields`). */
export interface Names {
	Many: string;
	One: string;
	many: string;
	one: string;
	/** With its article: `a contact`, `an activity`. */
	aOne: string;
}

export function namesOf({ name: path, object }: Resource): Names {
	// `custom-objects/{key}/records` are custom object records.
	const name = path.replace(/s\/\{\w+\}\//, '-');
	const one = object.replaceAll('_', ' ');
	return {
		Many: pascal(name),
		One: pascal(object),
		many: name.replaceAll('-', ' '),
		one,
		aOne: `${/^([aeio]|u(?!s))/.test(one) ? 'an' : 'a'} ${one}`,
	};
}

/** The id of the batch operation that corresponds to an operation on one record. */
export const batchOperationId = (operation: BulkOperation, resource: Resource): string =>
	`batch${capital(operation)}${namesOf(resource).Many}`;

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const pascal = (text: string): string =>
	text.replace(/(^|[-_])(\w)/g, (_, __, letter: string) => letter.toUpperCase());
