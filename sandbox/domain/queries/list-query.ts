import { z } from 'zod/v4';
import { getOrCreate } from '../../core/foundation/json.ts';
import { invalidParameter, unknownParameter, parameterProblem, type Problem } from '../../core/foundation/problem.ts';
import { readQuery, filterCondition, type Filter, valueFilters } from './filters.ts';
import { pointInTime } from '../../core/schemas/fields.ts';
import { namesOf } from '../../core/schemas/names.ts';
import type { Resource, StoredRecord } from '../../core/schemas/resource.ts';
import type { AccountKey } from '../../core/store/credentials/account-key.ts';
import { type Cell, sortColumn, foldCase } from '../../core/store/records/columns.ts';
import type { Condition } from '../../core/store/records/condition.ts';
import type { Order } from '../../core/store/records/record-reader.ts';
import type { TableView } from '../../core/store/visibility/visible-table.ts';
import { createHash, timingSafeEqual } from 'node:crypto';

const cursorSchema = z.strictObject({ after: z.array(z.union([z.string(), z.number()])), list: z.string() });

/** Length of the signature in bytes: half of an HMAC-SHA256 is enough (RFC 2104, 5). */
const signatureLength = 16;

/**
 * Encodes the position in a list: after the row with these values of the sort columns. The cursor is
 * signed, so that an altered one is refused instead of continuing at another position.
 */
export function encodeCursor(key: AccountKey, after: Cell[], list: string): string {
	const text = JSON.stringify({ after, list });
	return Buffer.concat([signatureOf(key, text), Buffer.from(text)]).toString('base64url');
}

/**
 * @param list the fingerprint of the list: a cursor is valid for one set of filters and one order
 * @throws Problem invalid_cursor
 */
export function decodeCursor(key: AccountKey, cursor: string, list: string): Cell[] {
	const bytes = Buffer.from(cursor, 'base64url');
	const text = bytes.subarray(signatureLength).toString();
	const signature = bytes.subarray(0, signatureLength);
	// Base64 decoding is lenient, so several texts decode to the same bytes.
	const isWhole = signature.length === signatureLength && bytes.toString('base64url') === cursor;
	if (!isWhole || !timingSafeEqual(signature, signatureOf(key, text))) {
		throw invalidCursor('It was not issued by this service, or was altered.');
	}
	const { after, list: issuedFor } = cursorSchema.parse(JSON.parse(text));
	if (issuedFor === list) return after;
	throw invalidCursor('It belongs to a list with other filters or another order.');
}

/** The fingerprint of a list, equal for requests that differ only in cursor, limit and fields. */
export const listFingerprint = (...parts: unknown[]): string =>
	createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);

const signatureOf = (key: AccountKey, text: string): Buffer => key.mac('cursor', text).subarray(0, signatureLength);

const invalidCursor = (reason: string): Problem =>
	parameterProblem('invalid_cursor', 'cursor', `The cursor is not valid. ${reason} Start again without a cursor.`);

export const pageSize = { minimum: 1, standard: 50, maximum: 500 };

/** Maximum length of `q` in characters. It limits the number of words, each of which is a condition. */
export const maxSearchLength = 200;

/** SQLite refuses a condition of a thousand parts. */
export const maxFilters = 100;

/** The default order of a list. */
const defaultOrder = 'created_at';

export interface ListQuery {
	limit: number;
	order: Order[];
	after: Cell[] | undefined;
	conditions: Condition[];
	includeDeleted: boolean;
	fields: string[] | undefined;
	fingerprint: string;
}

export const sortableFields = (resource: Resource): string[] => ['id', 'created_at', 'updated_at',...resource.sortable];

/** The query parameters that every list has. */
export const pageParameters = {
	cursor: z.string().optional().meta({
		description: 'The next_cursor of the previous page; filters and sort must stay the same.',
	}),
	limit: z.int().min(pageSize.minimum).max(pageSize.maximum).default(pageSize.standard).meta({
		description: 'Maximum number of records per page.',
	}),
};

/** The query parameter that selects fields. */
export const fieldsQuery = ({ properties }: Resource) => ({
	fields: z.array(z.enum(Object.keys(properties))).optional().meta({
		description: 'The fields to return, besides id and object.',
	}),
});

const instantParameter = (description: string, example: string) =>
	pointInTime.optional().meta({ description, examples: [example] });

const queriesByProperties = new WeakMap<Resource['properties'], ReturnType<typeof newListQuery>>();

/** The query parameters of a list, besides its filters: pages, order, search and fields. */
export const listQueryOf = (resource: Resource) =>
	getOrCreate(queriesByProperties, resource.properties, () => newListQuery(resource));

function newListQuery(resource: Resource) {
	const { plural } = namesOf(resource);
	const orders = sortableFields(resource).flatMap((field) => [field, `-${field}`]);
	return z.object({
		...pageParameters,
		sort: z.array(z.enum(orders)).default([defaultOrder]).meta({
			description: 'Fields to sort by; a minus sign means descending order.',
		}),
		q: z.string().trim().min(1).max(maxSearchLength).optional().meta({
			title: 'Search',
			description: `Words to search for in ${resource.searched.join(', ')}.`,
		}),
		ids: z.array(z.string().min(1)).max(pageSize.maximum).optional().meta({
			title: 'IDs',
			description: `Only ${plural} with one of these ids.`,
		}),
		...fieldsQuery(resource),
		include_deleted: z.boolean().default(false).meta({ description: `Whether to include deleted ${plural}.` }),
		// Time windows are half-open, so that each ends where the next begins.
		updated_since: instantParameter('Only records changed at or after this time.', '2025-03-01T00:00:00.000Z'),
		updated_until: instantParameter('Only records changed before this time.', '2025-04-01T00:00:00.000Z'),
	});
}

const changeFilters = valueFilters('updated', '"updated_at"', pointInTime);
const changeWindow = new Map([
	['updated_since', changeFilters.find(({ operator }) => operator === '>=')!],
	['updated_until', changeFilters.find(({ operator }) => operator === '<')!],
]);

/**
 * Parses the query of a list request.
 *
 * @param findFilter finds a filter by the name of its parameter
 * @param key verifies cursors
 * @throws Problem invalid_parameter, unknown_parameter, invalid_cursor
 */
export function parseListQuery(
	resource: Resource,
	queryTexts: Map<string, string>,
	findFilter: (parameter: string) => Filter | undefined,
	key: AccountKey,
): ListQuery {
	const schema = listQueryOf(resource);
	const { cursor, limit, fields, include_deleted: includeDeleted, ids, q, ...query } = readQuery(schema, queryTexts);
	const order = orderBy(resource, query.sort);
	const conditions: Condition[] = [];
	if (ids) conditions.push({ sql: `id IN (${ids.map(() => '?').join()})`, values: ids });
	// Every word must occur.
	const words = foldCase(q ?? '').split(/\s+/).filter(Boolean);
	conditions.push(...words.map((word) => ({ sql: 'instr(search, ?) > 0', values: [word] })));
	const filters = [...queryTexts].filter(([name]) => changeWindow.has(name) || !Object.hasOwn(schema.shape, name));
	const [excess] = filters.slice(maxFilters);
	if (excess) throw invalidParameter(excess[0], `A list accepts at most ${maxFilters} filters.`);
	for (const [name, text] of filters) {
		const filter = changeWindow.get(name) ?? findFilter(name);
		if (!filter) throw unknownParameter(name);
		conditions.push(filterCondition(filter, text, resource));
	}
	const fingerprint = listFingerprint(resource.name, order, includeDeleted, conditions);
	const after = cursor === undefined ? undefined : decodeCursor(key, cursor, fingerprint);
	return { limit, order, after, conditions, includeDeleted, fields, fingerprint };
}

/** The id comes last as a tie-breaker. */
function orderBy(resource: Resource, sort: string[]): Order[] {
	const order: Order[] = [];
	for (const part of sort) {
		const descending = part.startsWith('-');
		const name = descending ? part.slice(1) : part;
		const column = sortColumn(resource, name);
		if (!order.some((earlier) => earlier.column === column)) order.push({ column, descending });
		if (name === 'id') return order;
	}
	return [...order, { column: 'id', descending: order.at(-1)!.descending }];
}

/** A page of a list; `data` is the JSON of each record. */
interface ListPage {
	data: string[];
	cursor: string | null;
	total: number;
}

/** @param key signs the cursor */
export function listPage(table: TableView, query: ListQuery, key: AccountKey): ListPage {
	const { documents, end, total } = table.list(query);
	const data = documents.map((document) => listedRecord(document, query));
	return { data, cursor: end ? encodeCursor(key, end, query.fingerprint) : null, total };
}

/** The JSON of a record in a list. Complete records are stored in the form in which they are sent. */
export const listedRecord = (document: string, { fields }: ListQuery): string =>
	fields ? JSON.stringify(pickFields(JSON.parse(document) as StoredRecord, fields)) : document;

/** Reduces a record to the requested fields, id and object. */
export function pickFields(record: StoredRecord, fields: string[] | undefined) {
	if (!fields) return record;
	const picked: Partial<StoredRecord> = {};
	// A loop, because it runs for 100,000 records.
	for (const name of Object.keys(record)) {
		if (name === 'id' || name === 'object' || fields.includes(name)) picked[name] = record[name];
	}
	return picked;
}
