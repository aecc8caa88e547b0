import type { FieldKind } from './fields';
import type { OpenApiDocument, OpenApiOperation } from './openapi';
import { readPart, resolve, stepsOf, successOf } from './parts';

/** Where an answer has the cursor of the next page. */
export type CursorPlace = { path: string[] } | { header: string };

/** What a role has: the usual names of its parameter among services, most specific first, and its values. */
export interface Role {
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
export const roles: Record<'cursor' | 'pageSize' | 'sort' | 'search' | 'fields', Role> = {
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
export const otherPlaces = /^\$?(page|page[_-]?(no|num|number|index)|offset|skip|start([_-]?(index|at))?)$/i;

/** The parameters that reading a list sets: a member of a filter may have the same name. */
export const pagingParameters = ({ cursor, pageSize }: { cursor: string; pageSize?: { name: string } }): string[] => [
	cursor,
	...(pageSize ? [pageSize.name] : []),
];

/**
 * The parameter of the cursor, and where an answer has its next value: a link of the response fills the
 * one from the other, as in `{ cursor: '$response.body#/next_cursor' }` (OpenAPI 3.1, section 4.8.20).
 *
 * @param names of the list's parameters
 * @returns undefined where no link does, or several do from different places
 */
export function linkedCursor(
	document: OpenApiDocument,
	operation: OpenApiOperation,
	names: string[],
): { name: string; next: CursorPlace } | undefined {
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
function placeOf(expression: unknown): CursorPlace | undefined {
	const [, header, pointer] = /^\{?\$response\.(?:header\.([\w-]+)|body#\/(.+?))\}?$/.exec(String(expression)) ?? [];
	if (header !== undefined) return { header: header.toLowerCase() };
	return pointer === undefined ? undefined : { path: stepsOf(pointer) };
}
