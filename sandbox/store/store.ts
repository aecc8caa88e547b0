import { DatabaseSync } from 'node:sqlite';
import { customObjects, objectKeyOf, recordsOf } from '../schemas/custom-objects.ts';
import { resources } from '../schemas/index.ts';
import { jobs } from '../schemas/jobs.ts';
import { users } from '../schemas/users.ts';
import { webhooks } from '../schemas/webhooks.ts';
import { AccountKey } from './account-key.ts';
import { ApiKeys } from './api-keys.ts';
import { Clients } from './clients.ts';
import { Deliveries } from './deliveries.ts';
import { Events } from './events.ts';
import { addFoldCase } from './fold-case.ts';
import { Grants } from './grants.ts';
import { KeptAnswers } from './idempotency.ts';
import { JobLines } from './job-lines.ts';
import { Members } from './members.ts';
import { Reader } from './reader.ts';
import { Sessions } from './sessions.ts';
import { Table } from './table.ts';
import { Tokens } from './tokens.ts';
import { type Part, Transactions } from './transactions.ts';
import { WebhookGrants } from './webhook-grants.ts';
import { WebhookSecrets } from './webhook-secrets.ts';
import { WriteClock } from './write-clock.ts';

/** All that is kept: one SQLite database, one table per resource. */
export class Store {
	readonly accountKey: AccountKey;
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
	readonly webhookGrants: WebhookGrants;
	readonly webhookSecrets: WebhookSecrets;
	readonly writeClock: WriteClock;
	private readonly closing = new AbortController();
	private readonly database: DatabaseSync;
	private readonly reader: Reader;
	private readonly transactions: Transactions;
	private readonly tables = new Map<string, Table>();
	/** The tables of custom objects' records, by the id of the object. */
	private readonly customTables = new Map<string, Table>();

	/** @param path of a file, made if need be, or `:memory:` */
	constructor(path: string) {
		this.database = new DatabaseSync(path);
		this.database.exec(`
			PRAGMA journal_mode = WAL;
			PRAGMA synchronous = NORMAL;
			PRAGMA busy_timeout = 5000;
			PRAGMA wal_autocheckpoint = 8192;
			PRAGMA cache_size = -65536;
			PRAGMA temp_store = MEMORY;
		`);
		this.transactions = new Transactions(this.database, () => this.forget());
		this.reader = new Reader(this.database, path);
		addFoldCase(this.database);
		this.accountKey = new AccountKey(this.database);
		this.apiKeys = new ApiKeys(this.database);
		this.answers = new KeptAnswers(this.database);
		this.members = new Members(this.database, () => this.table(users.name)!);
		this.sessions = new Sessions(this.database);
		this.clients = new Clients(this.database);
		this.grants = new Grants(this.database);
		this.tokens = new Tokens(this.database, this.accountKey);
		this.transaction(() => {
			for (const one of [...resources, jobs, webhooks]) {
				this.tables.set(one.name, new Table(this.database, one, this.reader));
			}
		});
		this.jobItems = new JobLines(this.database, 'job_items');
		this.jobResults = new JobLines(this.database, 'job_results');
		this.events = new Events(this.database, this.reader);
		this.deliveries = new Deliveries(this.database);
		this.webhookGrants = new WebhookGrants(this.database);
		this.webhookSecrets = new WebhookSecrets(this.database);
		this.writeClock = new WriteClock(this.latestStamp());
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

	/** Signs a user out everywhere, and ends all that they have allowed applications. */
	endAccess(userId: string): void {
		this.sessions.closeAll(userId);
		this.grants.revokeOfUser(userId);
	}

	/** A transaction, or a part of the one that is under way; see `Transactions`. */
	transaction<T>(work: () => T, isKept?: (result: T) => boolean): T {
		return this.transactions.run(work, isKept);
	}

	/** A transaction of many parts; see `Transactions`. */
	transactionOfParts<T>(work: (part: Part) => T, isKept?: (result: T) => boolean): T {
		return this.transactions.runParts(work, isKept);
	}

	/** After a rollback, what tables remember is stale, and some may not exist any more. */
	private forget(): void {
		for (const table of this.tables.values()) table.forget();
		for (const [id, table] of this.customTables) {
			if (table.exists()) table.forget();
			else this.customTables.delete(id);
		}
	}

	/** The table of a custom object's records, made when it is first asked for. */
	private customTable(resource: string): Table | undefined {
		const key = objectKeyOf(resource);
		if (key === undefined) return undefined;
		const objects = this.tables.get(customObjects.name)!;
		const definition = objects.remember(`key ${key}`, () => {
			const byKey = { sql: '"key" = ?', values: [key] };
			return objects.findAll([byKey], 1)[0] ?? null;
		});
		if (!definition) return undefined;
		let table = this.customTables.get(definition.id);
		if (!table) {
			table = new Table(this.database, recordsOf(definition), this.reader);
			this.customTables.set(definition.id, table);
		}
		return table;
	}

	/** The latest instant at which anything was written; empty for a new database. */
	private latestStamp(): string {
		const latest = [...this.tables.values()].map((table) => table.lastUpdate());
		return [...latest, this.events.lastInstant()].toSorted().at(-1)!;
	}

	/** Aborts what goes on beside the store when it is closed. */
	get closed(): AbortSignal {
		return this.closing.signal;
	}

	get isOpen(): boolean {
		return this.database.isOpen;
	}

	close(): void {
		this.reader.close();
		this.database.close();
		this.closing.abort();
	}
}
