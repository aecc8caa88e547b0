import type { Field, FieldKind } from './field';

/** What a schema says about its values. */
export interface ValueSchema {
	/** Its JSON type, if it has one; an integer is a number. */
	type: string | undefined;
	format?: string | undefined;
	/** The kind of the values of an array. */
	items?: FieldKind | undefined;
	/** Whether it lists its values (`enum`, `const`). */
	isEnumerated: boolean;
	hasMembers: boolean;
}

type Conversion = (field: Field, value: unknown, zone: string) => unknown;

/** What a kind of field decides. */
export interface KindProperties {
	/** Whether a schema describes such values. The first kind of `kindsByPrecedence` that says so is used. */
	isDescribedBy(schema: ValueSchema): boolean;
	/** The types of custom fields that are of this kind; all others are text. */
	customTypes: string[];
	/** The control of n8n's mapper. */
	control: 'string' | 'options' | 'dateTime';
	/** The hint on the format in its label. Without one, a model reads `Name or ID` for a link; an empty one prevents that. */
	formatHint: string | undefined;
	/** What a value consists of; an open one may be anything. */
	shape: 'single' | 'list' | 'object' | 'open';
	/** The JSON type of each value, if there is only one. */
	type: 'text' | 'number' | 'boolean' | undefined;
	/** How values are ordered: ordered values can be filtered by bounds, numbers can be summed, and times are bounded by whole days. */
	order: 'number' | 'day' | 'instant' | undefined;
	/** Values allowed besides plain ones: names of other records, objects. */
	mayHold: Array<'names' | 'objects'>;
	/** Whether a value counts as blank. */
	isBlank(value: unknown): boolean;
	/** The value that the service takes; `convertElement` converts each element of a list. @throws Error in the user's words */
	convert(field: Field, value: unknown, zone: string, convertElement: Conversion): unknown;
	/** The canonical form for comparisons, in which different notations of a value are equal. */
	compared(text: string): unknown;
	/** The check of a value, if only one JSON type is valid. */
	onlyValid: { isValid(value: unknown): boolean; description: string } | undefined;
	/** Whether it can be a member of an object in a list, which a form then shows. */
	mayBeMember: boolean;
}
