import { field, kindOf, labelFor, type Field, type FieldKind, type ParameterEncoding } from './fields';
import { comparedBy } from './filteredFields';
import type { JobDescription } from './jobs';
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, PathItem } from './openapi';
import { readPart, resolve, stepsOf } from './parts';
import { recordTimes, type RecordTimes } from './recordTimes';
import { flatten, jsonSchema, largestNumber, parameterChoices, parametersIn } from './schema';

/** How one kind of record is listed. */
export interface ListDescription extends RecordTimes {
	/** The parameter that takes the cursor. */
	cursor: string;
	/** Whether the description names it, or has another parameter for the place of a page. */
	takesCursor?: true;
	/** Where an answer has the cursor of the next page, if the description links it; in `next_cursor` otherwise. */
	next?: { path: string[] } | { header: string };
	/** The parameter for the size of a page, and the largest page the service gives. */
	pageSize?: {
		name: string;
		maximum: number;
		/** The sizes a page can have, in ascending order; any up to the largest where absent. */
		sizes?: number[];
	};
	/** The parameter for the order, the orders it takes, and the one a list has without it. */
	sort?: { name: string; values: string[]; default?: string };
	/** The parameter for full-text search. */
	search?: string;
	/** The parameter that names the fields to answer with. */
	fields?: string;
	filters: Field[];
	/** Whether custom fields are filters too (see customFilters). */
	takesCustomFields?: true;
	/** The comparisons that filters by custom fields have, by type of field, where the service tells. */
	customComparisons?: Record<string, string[]>;
	/** The types of custom fields that are filtered by several values at once, where the service tells. */
	customLists?: string[];
	/** The background job that exports the list. */
	job?: JobDescription;
}

/** What a role has: the usual names of its parameter among services, most specific first, and its values. */
interface Role {
	names: string[];
	kinds: FieldKind[];
	/** Whether a parameter with such values has the role. */
	suits?: (choices: string[]) => boolean;
}

/**
 * A document that links the cursor (OpenAPI Link Object) is believed first. A parameter of a role's name
 * whose values are of another kind is a filter: `after` as a date, `limit` as an amount in text, `order`
 * as a direction.
 */
const roles: Record<'cursor' | 'pageSize' | 'sort' | 'search' | 'fields', Role> = {
	cursor: {
		names: ['cursor', 'page_token', 'pageToken', 'starting_after', 'after', 'next', 'offset_token'],
		kinds: ['text', 'number', 'any'],
	},
	// A limit beside a size of pages is one for the whole list.
	pageSize: {
		names: ['page_size', 'per_page', 'pageSize', 'perPage', 'page_limit', 'limit', 'max_results'],
		kinds: ['number', 'any', 'choice'],
		suits: (choices) => choices.every((choice) => Number(choice) >= 1),
	},
	sort: {
		names: ['sort', 'sort_by', 'order_by', 'sortBy', 'orderBy', 'order'],
		kinds: ['text', 'choice', 'list', 'any'],
		suits: (choices) => choices.length === 0 || !choices.every((choice) => /^[-+]?(asc|desc)(ending)?$/i.test(choice)),
	},
	search: { names: ['q', 'query', 'search'], kinds: ['text', 'any'] },
	fields: { names: ['fields', 'select'], kinds: ['text', 'list', 'choice', 'any'] },
};

/** Parameters of services that number their pages or records, which the connector does not do. */
const otherPlaces = /^\$?(page|page[_-]?(no|num|number|index)|offset|skip|start([_-]?(index|at))?)$/i;

/** Largest page if the document does not say: small enough for any service. */
const modestPage = 100;

/** Reads how a list operation pages, sorts and filters. */
export function describeList(
	document: OpenApiDocument,
	pathItem: PathItem,
	operation: OpenApiOperation,
): ListDescription {
	const query = parametersIn(document, pathItem, operation, 'query');
	const inRole = ({ names, kinds, suits = () => true }: Role) =>
		names
			.flatMap((name) => query.filter((parameter) => parameter.name === name))
			.find((one) => kinds.includes(parameterField(document, one).kind) && suits(parameterChoices(document, one)));

	const names = query.map(({ name = '' }) => name);
	const linked = linkedCursor(document, operation, names);
	const usual = inRole(roles.cursor)?.name;
	const cursor = linked?.name ?? usual ?? 'cursor';
	const pageSize = inRole(roles.pageSize);
	const sort = inRole(roles.sort);
	const search = inRole(roles.search)?.name;
	const fields = inRole(roles.fields)?.name;

	const description: ListDescription = { cursor, filters: [], ...recordTimes(names) };
	if ((linked ?? usual) || names.some((name) => otherPlaces.test(name))) description.takesCursor = true;
	if (linked) description.next = linked.next;
	if (pageSize?.name !== undefined) {
		const schema = flatten(document, pageSize.schema ?? {});
		const maximum = largestNumber(schema) ?? modestPage;
		description.pageSize = { name: pageSize.name, maximum };
		const sizes = (schema.enum ?? []).map(Number).filter((size) => size >= 1);
		if (sizes.length > 0) description.pageSize.sizes = sizes.sort((one, other) => one - other);
	}
	if (sort?.name !== undefined) {
		description.sort = { name: sort.name, values: parameterChoices(document, sort) };
		const { default: usual } = flatten(document, sort.schema ?? {});
		if (usual !== undefined) description.sort.default = [usual].flat().join();
	}
	if (search !== undefined) description.search = search;
	if (fields !== undefined) description.fields = fields;
	const taken = [cursor, pageSize?.name, sort?.name, fields];
	const labels = new Map(recordFieldsOf(document, operation).map(({ name, label }) => [name, label]));
	description.filters = query
		.filter(({ name }) => !taken.includes(name))
		.map((parameter) => {
			const filter = parameterField(document, parameter);
			const isTitled = (parameter.schema ?? jsonSchema(parameter))?.title !== undefined;
			const label = isTitled ? undefined : labels.get(comparedBy(filter.name).name);
			return label === undefined ? filter : { ...filter, label };
		});
	if (operation['x-custom-fields'] !== undefined) description.takesCustomFields = true;
	const custom = operation['x-custom-field-filters'];
	if (custom !== undefined) description.customComparisons = custom;
	const lists = operation['x-custom-field-lists'];
	if (lists !== undefined) description.customLists = lists;
	return description;
}

/**
 * The parameter of the cursor, and where an answer has its next value: a link of the response fills the
 * one from the other, as in `{ cursor: '$response.body#/next_cursor' }` (OpenAPI 3.1, section 4.8.20).
 *
 * @param names of the list's parameters
 * @returns undefined where no link does, or several do from different places
 */
function linkedCursor(
	document: OpenApiDocument,
	operation: OpenApiOperation,
	names: string[],
): { name: string; next: NonNullable<ListDescription['next']> } | undefined {
	const response = readPart(document, successOf(operation), 'response');
	const found = Object.entries(response.links ?? {}).flatMap(([called, one]) => {
		const link = resolve(document, one, 'link');
		const isOther = link.operationId !== undefined && link.operationId !== operation.operationId;
		if (isOther || backwards.test(called)) return [];
		return Object.entries(link.parameters ?? {}).flatMap(([parameter, from]) => {
			// OpenAPI allows the place before the name: `query.cursor`.
			const name = parameter.replace(/^query\./, '');
			const isCursor = roles.cursor.names.includes(name) || /cursor|token|next|after|continu/i.test(`${name} ${String(from)}`);
			const next = names.includes(name) && isCursor && !backwards.test(String(from)) ? placeOf(from) : undefined;
			return next ? [{ name, next }] : [];
		});
	});
	const [first] = found;
	return first && new Set(found.map((one) => JSON.stringify(one))).size === 1 ? first : undefined;
}

/** Links to other pages than the next one. */
const backwards = /prev|first|last|self|before/i;

/** The place in an answer that a runtime expression names (OpenAPI 3.1, section 4.8.20.4). */
function placeOf(expression: unknown): ListDescription['next'] {
	const [, header, pointer] = /^\{?\$response\.(?:header\.([\w-]+)|body#\/(.+?))\}?$/.exec(String(expression)) ?? [];
	if (header !== undefined) return { header: header.toLowerCase() };
	return pointer === undefined ? undefined : { path: stepsOf(pointer) };
}

/** A query parameter as a field. */
export function parameterField(document: OpenApiDocument, parameter: OpenApiParameter): Field {
	const { name = '', description = '', required = false } = parameter;
	const schema = parameter.schema ?? jsonSchema(parameter) ?? {};
	// Names stay whole: the dot and bracket of `created_at[gte]` belong to the parameter.
	const made = field(document, [name], schema.title ?? filterLabel(name), schema, required);
	const encoding = encodingOf(parameter, made);
	return {
		...made,
		name,
		description: description || made.description,
		...(encoding !== undefined && { encoding }),
	};
}

/** How a parameter's lists and objects are written; undefined for commas, and for single values. */
function encodingOf({ schema, content, style = 'form', explode }: OpenApiParameter, { kind }: Field): ParameterEncoding | undefined {
	if (!['list', 'json', 'any'].includes(kind)) return undefined;
	if (!schema && content) return 'json';
	if (style === 'deepObject') return 'deepObject';
	const isSeparate = explode ?? style === 'form';
	if (isSeparate) return kind === 'json' ? 'members' : 'repeated';
	return style === 'spaceDelimited' ? 'space' : style === 'pipeDelimited' ? 'pipe' : undefined;
}

/** `created_at[gte]` → `Created At`; a comparison that is not known stays: `Name (Like)`. */
function filterLabel(parameter: string): string {
	const { name } = comparedBy(parameter);
	const [, field = name, comparison] = /^(.+)\[(\w+)\]$/.exec(name) ?? [];
	return comparison === undefined ? labelFor(field) : `${labelFor(field)} (${labelFor(comparison)})`;
}

/** The answer of an operation that succeeds. */
const successOf = ({ responses = {} }: OpenApiOperation): unknown => responses['200'] ?? responses['2XX'] ?? responses.default;

/** A value of a record as it is answered. */
export interface RecordField {
	name: string;
	label: string;
	/** Whether it is a single value, and neither a list nor an object. */
	isPlain: boolean;
}

/** The fields of the records a list operation answers with, in the order of the document. */
export function recordFieldsOf(document: OpenApiDocument, list: OpenApiOperation): RecordField[] {
	const envelope = jsonSchema(readPart(document, successOf(list), 'response'));
	const data = flatten(document, envelope ?? {}).properties?.data ?? {};
	const record = flatten(document, flatten(document, data).items ?? {});
	return Object.entries(record.properties ?? {}).map(([name, property]) => {
		const schema = flatten(document, property);
		const isPlain = !['list', 'json'].includes(kindOf(document, schema));
		return { name, label: schema.title ?? labelFor(name), isPlain };
	});
}

/** Most fields of a simplified record (n8n's UX guidelines), custom fields aside. */
const summaryLength = 10;

/**
 * The id, the first plain fields, the time of the last change and the custom fields of a record; empty if
 * the document does not describe its fields.
 */
export function summaryFieldNames(fields: RecordField[], { changed }: Pick<ListDescription, 'changed'>): string[] {
	if (fields.length === 0) return [];
	const has = (wanted?: string) => fields.filter(({ name }) => name === wanted).map(({ name }) => name);
	const last = has(changed?.field);
	const plain = fields.filter(({ name, isPlain }) => isPlain && !last.includes(name)).map(({ name }) => name);
	const first = [...new Set(['id', ...plain])].slice(0, summaryLength - last.length);
	return [...first, ...last, ...has('custom_fields')];
}
