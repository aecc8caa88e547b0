import type { ListRole } from '../../fields/kind';
import type { OpenApiDocument, OpenApiOperation } from './openapi';
import { readPart, resolve, stepsOf, successOf } from './documentParts';

/** Where a response has the cursor of the next page. */
export type CursorPlace = { path: string[] } | { header: string };

/** The usual names of a role's parameter among services, most specific first. */
export interface Role {
	names: string[];
	/** Whether a parameter with such values has the role. */
	suits?: (choices: string[]) => boolean;
}

/**
 * A link to the cursor in the document (OpenAPI Link Object) takes precedence. A parameter with the name of a role and
 * values of a kind that does not fit (`listRoles` of `fieldKinds`) is a filter: `after` as a date, `limit` as an amount
 * in text, `order` as a direction.
 */
export const roles: Record<ListRole, Role> = {
	cursor: {
		names: ['cursor', 'page_token', 'pageToken', 'starting_after', 'after', 'next', 'offset_token'],
	},
	// A limit beside a page size applies to the whole list.
	pageSize: {
		names: ['page_size', 'per_page', 'pageSize', 'perPage', 'page_limit', 'limit', 'max_results'],
		suits: (choices) => choices.every((choice) => Number(choice) >= 1),
	},
	sort: {
		names: ['sort', 'sort_by', 'order_by', 'sortBy', 'orderBy', 'order'],
		suits: (choices) => choices.length === 0 || !choices.every((choice) => /^[-+]?(asc|desc)(ending)?$/i.test(choice)),
	},
	search: { names: ['q', 'query', 'search'] },
	fields: { names: ['fields', 'select'] },
};

/** Parameters of services that number their pages or records, which the connector does not support. */
export const numberedPaging = /^\$?(page|page[_-]?(no|num|number|index)|offset|skip|start([_-]?(index|at))?)$/i;

/** The parameters that paging sets: a member of a filter may have the same name. */
export const pagingParameters = ({ cursor, pageSize, fixed = {} }: { cursor: string; pageSize?: { name: string }; fixed?: object }): string[] => [
	cursor,
	...Object.keys(fixed),
	...(pageSize ? [pageSize.name] : []),
];

/** How the description links a page to the next one. */
interface NextLink {
	/** The parameter of the cursor, and where a response has its next value. */
	name: string;
	next: CursorPlace;
	/** Further parameters of each request for a next page. */
	fixed: Record<string, string | number | boolean>;
}

/**
 * The link from a page to the next one. It sets parameters to values from the response or to constants, as in
 * `{ cursor: '$response.body#/next_cursor', direction: 'next' }` (OpenAPI 3.1, section 4.8.20).
 *
 * @param names of the list's parameters
 * @returns undefined if there is no such link; if links are ambiguous (one fills several parameters, or several
 * differ), the places of a response that have a value if there is a next page
 */
export function nextLink(
	document: OpenApiDocument,
	operation: OpenApiOperation,
	names: string[],
): NextLink | { ambiguousNext: CursorPlace[] } | undefined {
	const response = readPart(document, successOf(operation), 'response');
	const found = Object.entries(response.links ?? {}).flatMap(([linkName, linkOrReference]) => {
		const link = resolve(document, linkOrReference, 'link');
		const isOther = link.operationId !== undefined && link.operationId !== operation.operationId;
		if (isOther || backwards.test(linkName)) return [];
		// OpenAPI allows the place before the name: `query.cursor`.
		const entries = Object.entries(link.parameters ?? {});
		const parameters = entries.map(([name, from]) => ({ name: name.replace(/^query\./, ''), from: from as string }));
		const filled = parameters.filter(({ name, from }) => names.includes(name) && placesIn(from).length > 0);
		const isNext = filled.some(({ name, from }) => isCursor(name, from) && !backwards.test(from));
		const isConstant = ({ name, from }: { name: string; from: unknown }) =>
			names.includes(name) && ['string', 'number', 'boolean'].includes(typeof from) && !String(from).includes('$');
		const fixed = Object.fromEntries(parameters.filter(isConstant).map(({ name, from }) => [name, from]));
		return isNext ? [{ filled, fixed }] : [];
	});
	const [first] = found;
	if (!first) return undefined;
	const [only, ...others] = first.filled;
	const isClear = others.length === 0 && new Set(found.map((candidate) => JSON.stringify(candidate))).size === 1;
	const next = isClear ? placeOf(only?.from) : undefined;
	if (only && next) return { name: only.name, next, fixed: first.fixed };
	return { ambiguousNext: found.flatMap(({ filled }) => filled.flatMap(({ from }) => placesIn(from))) };
}

const isCursor = (name: string, from: string): boolean =>
	roles.cursor.names.includes(name) || /cursor|token|next|after|continu/i.test(`${name} ${from}`);

/** Links to other pages than the next one. */
const backwards = /prev|first|last|self|before/i;

const runtimeExpressions = /\$response\.(?:header\.[\w-]+|body#\/[^{}]+)/g;

/** The place in a response that a runtime expression names (OpenAPI 3.1, section 4.8.20.4). */
function placeOf(from: unknown): CursorPlace | undefined {
	const [, header, pointer] = /^\{?\$response\.(?:header\.([\w-]+)|body#\/([^{}]+))\}?$/.exec(String(from)) ?? [];
	if (header !== undefined) return { header: header.toLowerCase() };
	return pointer === undefined ? undefined : { path: stepsOf(pointer) };
}

/** The places in a text of several expressions. */
const placesIn = (from: unknown): CursorPlace[] => (String(from).match(runtimeExpressions) ?? []).flatMap((match) => placeOf(match) ?? []);
