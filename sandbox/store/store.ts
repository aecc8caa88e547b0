import { DatabaseSync } from 'node:sqlite';
import { customObjects, objectKeyOf, recordsOf } from '../schemas/custom-objects.ts';
import { resources } from '../schemas/index.ts';
import { jobs } from '../schemas/jobs.ts';
import { webhooks } from '../schemas/webhooks.ts';
import { ApiKeys } from './api-keys.ts';
import { Clients } from './clients.ts';
import { Deliveries } from './deliveries.ts';
import { Events } from './events.ts';
import { Grants } from './grants.ts';
import { KeptAnswers } from './idempotency.ts';
import { JobLines } from './job-lines.ts';
import { Members } from './members.ts';
import { PreparedStatements } from './prepared.ts';
import { Reader } from './reader.ts';
import { Sessions } from './sessions.ts';
import { Table } from './table.ts';
import { Tokens } from './tokens.ts';
import { WebhookSecrets } from './webhook-secrets.ts';
import { WriteClock } from './write-clock.ts';

const outermost = { begin: ['BEGIN IMMEDIATE'], commit: ['COMMIT'], rollback: ['ROLLBACK'] };
const nested = {
	begin: ['SAVEPOINT part'],
	commit: ['RELEASE part'],
	rollback: ['ROLLBACK TO part', 'RELEASE part'],
};

/** Runs one part of a transaction, whose effect is kept unless it throws. */
export type Part = <R>(effect: () => R) => R;

/** A part failed after it had written something. */
class PartlyWritten extends Error {}

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
	readonly writeClock: WriteClock;
	private readonly closing = new AbortController();
	private readonly database: DatabaseSync;
	private readonly reader: Reader;
	private readonly statements: PreparedStatements;
	private readonly tables = new Map<string, Table>();
	/** The tables of custom objects' records, by the id of the object. */
	private readonly customTables = new Map<string, Table>();
	/** Those of them that this transaction has made, and that go if it is rolled back. */
	private readonly made: string[] = [];
	private version = 0;

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
		this.statements = new PreparedStatements(this.database);
		this.reader = new Reader(this.database, path);
		this.apiKeys = new ApiKeys(this.database);
		this.answers = new KeptAnswers(this.database);
		this.members = new Members(this.database);
		this.sessions = new Sessions(this.database);
		this.clients = new Clients(this.database);
		this.grants = new Grants(this.database);
		this.tokens = new Tokens(this.database);
		this.transaction(() => {
			for (const one of [...resources, jobs, webhooks]) {
				this.tables.set(one.name, new Table(this.database, one, this.reader));
			}
		});
		this.jobItems = new JobLines(this.database, 'job_items');
		this.jobResults = new JobLines(this.database, 'job_results');
		this.events = new Events(this.database, this.reader);
		this.deliveries = new Deliveries(this.database);
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

	/**
	 * Everything `work` writes is kept, or nothing if it throws or `isKept` turns its result down.
	 * Inside another transaction it is a part of that one, and can be undone alone.
	 */
	transaction<T>(work: () => T, isKept: (result: T) => boolean = () => true): T {
		const { begin, commit, rollback } = this.database.isTransaction ? nested : outermost;
		const madeBefore = this.made.length;
		this.run(begin);
		if (begin === outermost.begin) this.noticeOthers();
		let isDone = false;
		try {
			const result = work();
			isDone = isKept(result);
			this.run(isDone ? commit : rollback);
			return result;
		} catch (error) {
			this.run(rollback);
			throw error;
		} finally {
			if (!isDone) this.forgetSince(madeBefore);
			if (!this.database.isTransaction) this.made.length = 0;
		}
	}

	/**
	 * A transaction of many parts, each of which is kept whole or not at all.
	 *
	 * A savepoint for each part would cost more than the part, as the index for search is written out
	 * at each. Most parts that fail do so before they have written anything, so the first run has no
	 * savepoints, and where one would have been needed, all is rolled back and done again with them.
	 *
	 * @param work runs its parts with the function it is given; it may be called twice
	 */
	transactionOfParts<T>(work: (part: Part) => T, isKept?: (result: T) => boolean): T {
		const unprotected: Part = (effect) => {
			const before = this.changes();
			try {
				return effect();
			} catch (error) {
				if (this.changes() !== before) throw new PartlyWritten();
				throw error;
			}
		};
		try {
			return this.transaction(() => work(unprotected), isKept);
		} catch (error) {
			if (!(error instanceof PartlyWritten)) throw error;
			return this.transaction(() => work((effect) => this.transaction(effect)), isKept);
		}
	}

	/** How many rows this connection has written. */
	private changes(): number {
		return this.statements.get('SELECT total_changes() AS value').get()!['value'] as number;
	}

	private run(statements: string[]): void {
		for (const sql of statements) this.statements.get(sql).run();
	}

	/** After a rollback, tables made in the transaction do not exist and what they remember is stale. */
	private forgetSince(madeBefore: number): void {
		for (const id of this.made.splice(madeBefore)) this.customTables.delete(id);
		this.forgetAll();
	}

	/** What is remembered is stale once another process has written to the file. */
	private noticeOthers(): void {
		const version = this.statements.get('PRAGMA data_version').get()!['data_version'] as number;
		const { whole } = this;
		if (version !== whole.version) this.forgetAll();
		whole.version = version;
	}

	private forgetAll(): void {
		for (const table of this.tables.values()) table.forget();
		for (const table of this.customTables.values()) table.forget();
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
			if (this.database.isTransaction) this.made.push(definition.id);
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
