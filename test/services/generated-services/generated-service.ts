import type { IncomingMessage } from 'node:http';

import type { Dialect } from './dialect.ts';
import { documentOf } from './generated-document.ts';
import { errorBody, type GeneratedAnswer } from './error-shapes.ts';
import type { Fault } from './faults.ts';

type GeneratedRecord = Record<string, unknown> & { id: string };

/** A member of the object itself. Its name may be one that every object inherits. */
export const ownValue = (object: object, name: string): unknown =>
	Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined;

/** One change that a request made to one record. */
interface Effect {
	kind: 'create' | 'update' | 'delete';
	id: string;
	/** The record's values in the request. */
	values: Record<string, unknown>;
	/** Whether the description says that a repeated request is recognized. */
	isGuaranteed: boolean;
	/** The attempt of the node that made it, as the caller counts. */
	attempt: number;
}

/** A service with its own dialect and faults. It records its requests and their effects. */
export class GeneratedService {
	readonly dialect: Dialect;
	readonly faults: Fault[];
	readonly records = new Map<string, GeneratedRecord>();
	readonly effects: Effect[] = [];
	readonly requests: string[] = [];
	attempt = 0;
	/** Replaces the description. */
	description: GeneratedAnswer | undefined;
	private readonly folder: string;
	private readonly answers = new Map<string, { request: string; answer: GeneratedAnswer; pending: number; apply?: () => GeneratedAnswer }>();
	private readonly seen = { read: 0, write: 0 };
	private createdCount = 0;

	constructor(folder: string, dialect: Dialect, faults: Fault[], records: number) {
		this.folder = folder;
		this.dialect = dialect;
		this.faults = faults;
		for (let i = 0; i < records; i++) this.insert({ [dialect.names.text]: `row ${i}`, [dialect.names.match]: `row-${i}` });
	}

	/** The answer, and the fault that it meets. */
	handle(method: string, url: URL, headers: IncomingMessage['headers'], text: string): { answer: GeneratedAnswer; fault?: Fault } {
		const path = url.pathname.slice(this.folder.length);
		if (path === '/openapi.json') {
			return { answer: this.description ?? { status: 200, body: documentOf(this.dialect, this.folder) } };
		}
		this.requests.push(`${method} ${path}${url.search} ${text}`);
		const kind = method === 'GET' ? 'read' : 'write';
		const place = this.seen[kind]++;
		const fault = this.faults.find(({ on, at, times }) => on === kind && place >= at && place < at + times);
		if (kind === 'read') return { answer: this.read(path, url.searchParams), ...(fault && { fault }) };

		const isBatch = path.endsWith('-batch');
		const promise = this.dialect.keysOf[isBatch ? 'batch' : 'single'];
		const header = headers[this.dialect.key.name.toLowerCase()];
		const key = typeof header === 'string' ? header : undefined;
		const refusal = this.refusalOfKey(key, promise === 'declared');
		if (refusal) return { answer: refusal };
		const isKept = key !== undefined && promise !== 'ignored';
		const storedAnswer = isKept ? this.answers.get(key) : undefined;
		const request = `${method} ${path}${url.search} ${text}`;
		if (storedAnswer) return { answer: this.repeated(storedAnswer, request) };

		const apply = () => this.write(method, path, url.searchParams, headers, text, promise === 'declared' && key !== undefined);
		if (fault?.effect === 'before') return { answer: { status: 200 }, fault };
		if (fault?.effect === 'later' && isKept) {
			this.answers.set(key, { request, answer: { status: 200 }, pending: 3, apply });
			return { answer: { status: 200 }, fault };
		}
		const answer = apply();
		if (isKept && answer.status < 500) this.answers.set(key, { request, answer, pending: 0 });
		return { answer, ...(fault && { fault }) };
	}

	private refusalOfKey(key: string | undefined, isDeclared: boolean): GeneratedAnswer | undefined {
		const { format, isRequired } = this.dialect.key;
		if (!isDeclared) return undefined;
		if (key === undefined) return isRequired ? this.error(400, 'key_missing') : undefined;
		const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(key);
		if (format === 'uuid' && !isUuid) return this.error(400, 'key_no_uuid');
		return format === 'short' && key.length > 64 ? this.error(400, 'key_too_long') : undefined;
	}

	private repeated(
		storedAnswer: { request: string; answer: GeneratedAnswer; pending: number; apply?: () => GeneratedAnswer }, request: string,
	): GeneratedAnswer {
		if (storedAnswer.request !== request) return this.error(422, 'idempotency_key_reused');
		if (storedAnswer.pending > 1) {
			storedAnswer.pending -= 1;
			// The API's public documentation names this code, and no other.
			return { status: 409, body: { code: 'idempotency_in_progress', detail: 'The first attempt is still running' } };
		}
		if (storedAnswer.apply) {
			storedAnswer.answer = storedAnswer.apply();
			delete storedAnswer.apply;
		}
		return storedAnswer.answer;
	}

	private read(path: string, query: URLSearchParams): GeneratedAnswer {
		const { cursor, pageSize, lastCursor } = this.dialect;
		const id = /^\/v1\/contacts\/([^/]+)$/.exec(path)?.[1];
		const found = id === undefined ? undefined : this.records.get(decodeURIComponent(id));
		if (found) return { status: 200, body: found, headers: this.versionOf(found) };
		if (path !== '/v1/contacts') return this.error(404, 'not_found');
		const knownParameters = [cursor, pageSize.name];
		const unknown = [...query.keys()].find((name) => !knownParameters.includes(name));
		if (unknown !== undefined) return this.error(400, 'unknown_parameter');
		const requestedSize = Number(query.get(pageSize.name) ?? Math.min(10, pageSize.maxSize));
		if (!(requestedSize >= 1 && requestedSize <= pageSize.maxSize)) return this.error(400, 'page_size');
		const size = requestedSize;
		const start = Number(/^at-(\d+)$/.exec(query.get(cursor) ?? 'at-0')?.[1]);
		const rows = [...this.records.values()];
		const next = start + size < rows.length ? `at-${start + size}` : lastCursor === 'absent' ? undefined : null;
		return {
			status: 200,
			body: {
				data: rows.slice(start, start + size),
				next_cursor: next,
				...(lastCursor !== 'null without total' && { total: rows.length }),
			},
		};
	}

	private versionOf(row: GeneratedRecord): Record<string, string> {
		return this.dialect.update === 'put with ETag' ? { etag: `"${JSON.stringify(row).length}-${String(row.revision)}"` } : {};
	}

	private write(
		method: string,
		path: string,
		query: URLSearchParams,
		headers: IncomingMessage['headers'],
		text: string,
		isGuaranteed: boolean,
	): GeneratedAnswer {
		const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
		const place = /^\/v1\/contacts(?:\/(?:(\w+)-batch|([^/]+)))?$/.exec(path);
		if (!place) return this.error(404, 'not_found');
		const [, batch, id] = place;
		const { names, update } = this.dialect;
		if (batch !== undefined && this.dialect.batch) return this.writeBatch(batch, ownValue(body, names.batch), query, isGuaranteed);
		if (method === 'POST' && id === undefined) return this.create(body, isGuaranteed);
		if (method === 'PUT' && id === undefined) return this.upsert(body, query, isGuaranteed);
		const target = id === undefined ? undefined : this.records.get(decodeURIComponent(id));
		if (!target) return this.error(404, 'not_found');
		if (method === 'DELETE') return this.remove(target, isGuaranteed);
		if (method !== (update.startsWith('put') ? 'PUT' : 'PATCH')) return this.error(405, 'method');
		const condition = headers['if-match'];
		if (condition !== undefined && condition !== this.versionOf(target).etag) return this.error(412, 'changed');
		return this.change(target, body, isGuaranteed, method === 'PUT');
	}

	private writeBatch(verb: string, items: unknown, query: URLSearchParams, isGuaranteed: boolean): GeneratedAnswer {
		if (!Array.isArray(items)) return this.error(422, 'batch');
		if (items.length > this.dialect.batch!.maximum) return this.error(413, 'too_large');
		const results = (items as GeneratedRecord[]).map((item, index) => {
			const { id, ...values } = item;
			const target = this.records.get(id);
			const { status, body } =
				verb === 'create'
					? this.create(item, isGuaranteed)
					: verb === 'upsert'
						? this.upsert(item, query, isGuaranteed)
						: !target
							? this.error(404, 'not_found')
							: verb === 'delete'
								? this.remove(target, isGuaranteed)
								: this.change(target, values, isGuaranteed, false);
			const record = status < 300 ? { data: body } : { error: body ?? null };
			return { index, status, ...record };
		});
		return { status: 207, body: { results: results.reverse() } };
	}

	private create(values: Record<string, unknown>, isGuaranteed: boolean): GeneratedAnswer {
		const refusal = this.invalid(values);
		if (refusal) return refusal;
		const row = this.insert(values);
		this.effects.push({ kind: 'create', id: row.id, values, isGuaranteed, attempt: this.attempt });
		return this.answerWith(row, 201);
	}

	private upsert(values: Record<string, unknown>, query: URLSearchParams, isGuaranteed: boolean): GeneratedAnswer {
		const { match } = this.dialect.names;
		// Without the field to match on, it may find any record.
		const isAny = query.get('match_on') !== match;
		const found = [...this.records.values()].find((row) => isAny || ownValue(row, match) === ownValue(values, match));
		return found ? this.change(found, values, isGuaranteed, false) : this.create(values, isGuaranteed);
	}

	private change(row: GeneratedRecord, values: Record<string, unknown>, isGuaranteed: boolean, isReplaced: boolean): GeneratedAnswer {
		const invalid = this.invalid(values);
		if (invalid) return invalid;
		const base = isReplaced ? {} : row;
		const changed = { ...base, ...values, id: row.id, revision: Number(row.revision) + 1 };
		this.records.set(row.id, changed);
		this.effects.push({ kind: 'update', id: row.id, values, isGuaranteed, attempt: this.attempt });
		return this.answerWith(changed, 200);
	}

	private remove(row: GeneratedRecord, isGuaranteed: boolean): GeneratedAnswer {
		this.records.delete(row.id);
		this.effects.push({ kind: 'delete', id: row.id, values: {}, isGuaranteed, attempt: this.attempt });
		return { status: 204 };
	}

	private invalid(values: Record<string, unknown>): GeneratedAnswer | undefined {
		const count = ownValue(values, this.dialect.names.count);
		return count === undefined || count === null || Number.isInteger(count) ? undefined : this.error(422, 'count');
	}

	private insert(values: Record<string, unknown>): GeneratedRecord {
		const row = { ...values, id: `con_${++this.createdCount}`, revision: 1 };
		this.records.set(row.id, row);
		return row;
	}

	private answerWith(row: GeneratedRecord, status: number): GeneratedAnswer {
		return { status, body: this.dialect.answers === 'id' ? { id: row.id } : row };
	}

	private error(status: number, code: string): GeneratedAnswer {
		return errorBody(this.dialect.errors, status, code);
	}
}
