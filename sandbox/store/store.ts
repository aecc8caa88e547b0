import { DatabaseSync } from 'node:sqlite';
import { customObjects, objectKeyOf, recordsOf } from '../schemas/custom-objects.ts';
import { resources } from '../schemas/index.ts';
import { jobs } from '../schemas/jobs.ts';
import { webhooks } from '../schemas/webhooks.ts';
import { ApiKeys } from './api-keys.ts';
import { Clients } from './clients.ts';
import { foldCase } from './columns.ts';
import { Deliveries } from './deliveries.ts';
import { Events } from './events.ts';
import { Grants } from './grants.ts';
import { KeptAnswers } from './idempotency.ts';
import { JobLines } from './job-lines.ts';
import { Members } from './members.ts';
import { Sessions } from './sessions.ts';
import { Table } from './table.ts';
import { Tokens } from './tokens.ts';
import { WebhookSecrets } from './webhook-secrets.ts';

const outermost = { begin: 'BEGIN IMMEDIATE', commit: 'COMMIT', rollback: 'ROLLBACK' };
const nested = {
	begin: 'SAVEPOINT part',
	commit: 'RELEASE part',
	rollback: 'ROLLBACK TO part; RELEASE part',
};

/** All that is kept: one SQLite database, one table per resource. */
export class Store {
	readonly apiKeys: ApiKeys;
	readonly answers: KeptAnswers;
	readonly members: Members;
	readonly sessions: Sessions;
	readonly clients: Clients;
	readonly grants: Grants;
	readonly tokens: Tokens;
	/** The same store, with every record; a view by `seenBy` has fewer. */
	readonly whole: Store = this;
	/** What jobs have still to do. */
	readonly jobItems: JobLines;
	/** What jobs have done. */
	readonly jobResults: JobLines;
	/** What has happened. */
	readonly events: Events;
	/** What is sent of it, and where to. */
	readonly deliveries: Deliveries;
	readonly webhookSecrets: WebhookSecrets;
	private readonly closing = new AbortController();
	private readonly database: DatabaseSync;
	private readonly tables: Map<string, Table>;

	/** @param path of a file, made if need be, or `:memory:` */
	constructor(path: string) {
		this.database = new DatabaseSync(path);
		this.database.exec(`
			PRAGMA journal_mode = WAL;
			PRAGMA synchronous = NORMAL;
			PRAGMA busy_timeout = 5000;
			PRAGMA wal_autocheckpoint = 8192;
			PRAGMA cache_size = -65536;
		`);
		// For conditions: SQLite's own lower() knows ASCII only.
		this.database.function('fold_case', { deterministic: true }, (text) =>
			foldCase(String(text ?? '')),
		);
		this.apiKeys = new ApiKeys(this.database);
		this.answers = new KeptAnswers(this.database);
		this.members = new Members(this.database);
		this.sessions = new Sessions(this.database);
		this.clients = new Clients(this.database);
		this.grants = new Grants(this.database);
		this.tokens = new Tokens(this.database);
		this.tables = this.transaction(
			() =>
				new Map(
					[...resources, jobs, webhooks].map((one) => [one.name, new Table(this.database, one)]),
				),
		);
		this.jobItems = new JobLines(this.database, 'job_items');
		this.jobResults = new JobLines(this.database, 'job_results');
		this.events = new Events(this.database);
		this.deliveries = new Deliveries(this.database);
		this.webhookSecrets = new WebhookSecrets(this.database);
	}

	/** The table of a resource, unless the service has no such resource. */
	table(resource: string): Table | undefined {
		return this.tables.get(resource) ?? this.customTable(resource);
	}

	/**
	 * The store as a caller sees it. For a user who is no administrator it is without the records
	 * that are not theirs to see (`visibleTo`), and without their events: whatever goes through it
	 * can neither find nor change them.
	 */
	seenBy(caller: { type: string; id: string }): Store {
		if (this.seesAll(caller)) return this;
		const { id } = caller;
		const table = (resource: string) => this.table(resource)?.seenBy(id);
		const events = this.events.seenBy(id);
		return Object.create(this, { table: { value: table }, events: { value: events } }) as Store;
	}

	/** API keys are those of the whole account. */
	seesAll({ type, id }: { type: string; id: string }): boolean {
		return type !== 'user' || this.members.find(id)?.role === 'admin';
	}

	/**
	 * Everything `work` writes is kept, or nothing if it throws or `isKept` turns its result down.
	 * Inside another transaction it is a part of that one, and can be undone alone.
	 */
	transaction<T>(work: () => T, isKept: (result: T) => boolean = () => true): T {
		const { begin, commit, rollback } = this.database.isTransaction ? nested : outermost;
		this.database.exec(begin);
		try {
			const result = work();
			this.database.exec(isKept(result) ? commit : rollback);
			return result;
		} catch (error) {
			this.database.exec(rollback);
			throw error;
		}
	}

	/** The table of a custom object's records, made when it is first asked for. */
	private customTable(resource: string): Table | undefined {
		const key = objectKeyOf(resource);
		if (key === undefined) return undefined;
		const byKey = { sql: '"key" = ?', values: [key] };
		const [definition] = this.tables.get(customObjects.name)!.findAll([byKey], 1);
		if (!definition) return undefined;
		const table = new Table(this.database, recordsOf(definition));
		// A transaction may be rolled back, and then there is no such table any more.
		if (!this.database.isTransaction) this.tables.set(resource, table);
		return table;
	}

	/** Aborts what goes on beside the store when it is closed. */
	get closed(): AbortSignal {
		return this.closing.signal;
	}

	get isOpen(): boolean {
		return this.database.isOpen;
	}

	close(): void {
		this.database.close();
		this.closing.abort();
	}
}
