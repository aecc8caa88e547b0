import type { IncomingHttpHeaders } from 'node:http';

import { startLocalServer, type LocalServer } from '../../support/local-server.ts';
import { withWholeRequest } from '../../support/whole-request.ts';
import { syncDocument, texts, unique, type SyncDialect } from './sync-document.ts';

export type Contact = Record<string, unknown> & { id: string };
interface Answer {
	status: number;
	body?: unknown;
	etag?: string;
}

/** A service of contacts whose unique fields are `external_id` and `email`. */
export class SyncService {
	readonly records = new Map<string, Contact>();
	/** Called before each request to its records, with its number from 0 on. */
	before: (request: number) => void = () => undefined;
	readonly writes: string[] = [];
	/** IDs of records that were deleted a second time. */
	readonly deletedAgain: string[] = [];
	/** IDs of records that were edited after they had been read. */
	readonly editedAfterReading = new Set<string>();
	private readonly wereRead = new Set<string>();
	private requests = 0;
	private createdCount = 0;
	private readonly answers = new Map<string, { request: string; answer: Answer }>();

	readonly dialect: SyncDialect;
	private readonly folder: string;

	constructor(dialect: SyncDialect, folder: string) {
		this.dialect = dialect;
		this.folder = folder;
	}

	/** Forgets all requests, and sets what happens before each of the next ones. */
	begin(before: (request: number) => void = () => undefined): void {
		this.requests = 0;
		this.writes.length = 0;
		this.wereRead.clear();
		this.editedAfterReading.clear();
		this.before = before;
	}

	/** A change by somebody else. The record gets a new version. */
	edit(id: string, values: Record<string, unknown>): boolean {
		const record = this.records.get(id);
		if (!record) return false;
		if (this.wereRead.has(id)) this.editedAfterReading.add(id);
		this.save({ ...record, ...values });
		return true;
	}

	/** Deletes a record that stays in the list. */
	deactivate(id: string): void {
		this.records.set(id, { ...this.records.get(id)!, deleted_at: '2026-01-01T00:00:00Z' });
	}

	add(values: Record<string, unknown>): Answer {
		const refusal = this.refusal(undefined, values);
		if (refusal) return refusal;
		const empty = Object.fromEntries(texts.map((name) => [name, null]));
		return this.answerWith(201, this.save({ ...empty, ...this.normalize(values), id: `con_${++this.createdCount}` }));
	}

	handle(method: string, url: URL, headers: IncomingHttpHeaders, text: string): Answer {
		const path = url.pathname.slice(this.folder.length);
		if (path === '/openapi.json') return { status: 200, body: syncDocument(this.dialect) };
		this.before(this.requests++);
		const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
		const [, , , id, verb] = path.split('/').map(decodeURIComponent);
		if (method === 'GET') return id === undefined ? this.list(url.searchParams) : this.read(id);
		this.writes.push(`${method} ${path} ${text}`);
		const key = this.dialect.hasKeys ? headers['idempotency-key'] : undefined;
		const request = [method, path, text, headers['if-match']].join(' ');
		const storedAnswer = this.answers.get(String(key));
		if (key !== undefined && storedAnswer)
			return storedAnswer.request === request ? storedAnswer.answer : { status: 422, body: { code: 'idempotency_key_reused' } };
		const answer = id === 'batch' ? this.batch(verb!, body.items as Contact[]) : this.write(method, id, body, headers['if-match']);
		if (key !== undefined) this.answers.set(String(key), { request, answer });
		return answer;
	}

	private write(method: string, id: string | undefined, body: Record<string, unknown>, ifMatch?: string): Answer {
		if (method === 'POST' && id === undefined) return this.add(body);
		const record = this.records.get(id ?? '');
		if (!record) return { status: 404, body: {} };
		const condition = this.dialect.takesIfMatch ? ifMatch : undefined;
		if (condition !== undefined && condition !== this.etag(record)) return { status: 412, body: {} };
		if (method === 'DELETE') return this.remove(record);
		if (method !== this.dialect.update.toUpperCase()) return { status: 405, body: {} };
		return this.change(record, body, method === 'PUT');
	}

	private batch(verb: string, items: Contact[]): Answer {
		const { maximum = 0, takesVersion, results = 'all' } = this.dialect.batch ?? {};
		if (items.length > maximum) return { status: 413, body: {} };
		const all = items.map(({ id, version, ...input }, index) => {
			const record = this.records.get(id);
			const isOld = takesVersion && version !== undefined && version !== record?.version;
			const { status, body } =
				verb === 'create' ? this.add(input)
				: !record ? { status: 404, body: {} }
				: isOld ? { status: 412, body: {} }
				: verb === 'delete' ? this.remove(record)
				: this.change(record, input, false);
			return { index, status, ...(status < 300 ? { data: body } : { error: body }) };
		});
		return { status: 207, body: { results: results === 'fewer' && all.length > 1 ? all.slice(0, -1) : all } };
	}

	private change(record: Contact, input: Record<string, unknown>, isReplaced: boolean): Answer {
		const refusal = this.refusal(record.id, input);
		if (refusal) return refusal;
		const others = isReplaced ? Object.fromEntries(texts.map((name) => [name, null])) : record;
		const saved = this.save({
			...others,
			...this.normalize(input),
			id: record.id,
			revision: record.revision,
			deleted_at: record.deleted_at,
		});
		const other = this.dialect.answersOther ? [...this.records.values()].find(({ id }) => id !== record.id) : undefined;
		return this.answerWith(200, other ?? saved);
	}

	private remove({ id, deleted_at: gone }: Contact): Answer {
		if (isValue(gone)) this.deletedAgain.push(id);
		if (this.dialect.deactivates) this.deactivate(id);
		else this.records.delete(id);
		return { status: 204 };
	}

	private refusal(id: string | undefined, input: Record<string, unknown>): Answer | undefined {
		const values = this.normalize(input);
		if (values.phone === 'refused') return { status: 422, body: { code: 'validation_failed', detail: 'phone' } };
		for (const name of unique) {
			const holder = [...this.records.values()].find((record) => record.id !== id && isValue(values[name]) && record[name] === values[name]);
			const named = this.dialect.namesConflicts && holder ? { existing_id: holder.id } : {};
			if (holder) return { status: 409, body: { code: 'duplicate', detail: `${name} is taken`, ...named } };
		}
		return undefined;
	}

	private save(values: Record<string, unknown>): Contact {
		const revision = Number(values.revision ?? 0) + 1;
		const version = this.dialect.versions === 'field' ? { version: revision } : {};
		const record = { ...values, revision, ...version } as unknown as Contact;
		this.records.set(record.id, record);
		return record;
	}

	private list(query: URLSearchParams): Answer {
		const { pageSize, hasFilters, hasTotal } = this.dialect;
		const rows = [...this.records.values()].filter((row) =>
			[['ids', 'id'], ['external_id', 'external_id'], ['email', 'email'], ['team', 'team']].every(([name, member]) => {
				const isApplied = name === 'team' ? !this.dialect.ignoresTeam : hasFilters;
				const filterValue = isApplied ? query.get(name!) : null;
				return filterValue === null || filterValue.split(',').includes(String(row[member!]));
			}),
		);
		const start = Number(query.get('cursor') ?? 0);
		const size = Math.min(Number(query.get('limit') ?? pageSize), pageSize);
		const next = start + size < rows.length ? String(start + size) : null;
		const page = rows.slice(start, start + size);
		const data = page.map(withoutRevision);
		if (size > 1) for (const { id } of page) this.wereRead.add(id);
		return { status: 200, body: { data, next_cursor: next, ...(hasTotal && { total: rows.length }) } };
	}

	private read(id: string): Answer {
		const record = this.records.get(id);
		return record ? this.answerWith(200, record) : { status: 404, body: {} };
	}

	private answerWith(status: number, record: Contact): Answer {
		const etag = this.etag(record);
		return { status, body: withoutRevision(record), ...(etag !== undefined && { etag }) };
	}

	/** The values as the service stores them: email addresses in lower case, texts in NFC. */
	private normalize(input: Record<string, unknown>): Record<string, unknown> {
		const values = Object.fromEntries(Object.entries(input).filter(([name]) => texts.includes(name)));
		return Object.fromEntries(
			Object.entries(values).map(([name, value]) => {
				const text = typeof value === 'string' ? value.normalize('NFC') : value;
				if (typeof text !== 'string') return [name, text];
				return [name, name === 'email' ? text.toLowerCase() : text];
			}),
		);
	}

	private etag({ revision }: Contact): string | undefined {
		return { field: `"${String(revision)}"`, etag: `"r-${String(revision)}"`, none: undefined }[this.dialect.versions];
	}
}

const isValue = (value: unknown) => value !== null && value !== undefined && value !== '';
const withoutRevision = ({ revision: _, ...record }: Contact) => record;

/** Services for the tests of a file, each under an address of its own. */
export function useSyncServices() {
	const services = new Map<string, SyncService>();
	let server: LocalServer;
	beforeAll(async () => {
		server = await startLocalServer(withWholeRequest(({ method, url, headers, body: text }, response) => {
			const service = services.get(url.pathname.split('/')[1] ?? '')!;
			const { status, body, etag } = service.handle(method, url, headers, text);
			response.writeHead(status, { 'content-type': 'application/json', ...(etag !== undefined && { etag }) });
			response.end(body === undefined ? '' : JSON.stringify(body));
		}));
	});
	afterAll(async () => await server.close());

	return (dialect: SyncDialect) => {
		const name = `s${services.size + 1}`;
		const service = new SyncService(dialect, `/${name}`);
		services.set(name, service);
		return { service, url: `${server.url}/${name}` };
	};
}
