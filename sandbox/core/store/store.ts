import { DatabaseSync } from 'node:sqlite';
import { getOrCreate } from '../foundation/json.ts';
import { customObjects, objectKeyOf, recordsOf } from '../schemas/custom-objects.ts';
import { resources } from '../schemas/index.ts';
import { jobs } from '../schemas/jobs.ts';
import type { Actor } from '../schemas/origin.ts';
import { users } from '../schemas/users.ts';
import { webhooks } from '../schemas/webhooks.ts';
import { AccountKey } from './credentials/account-key.ts';
import { ApiKeys } from './credentials/api-keys.ts';
import { Clients } from './credentials/clients.ts';
import { DeliveryLog } from './log/delivery-log.ts';
import { EventLog } from './log/event-log.ts';
import { equals } from './records/condition.ts';
import { addFoldCase } from './records/columns.ts';
import { Grants } from './credentials/grants.ts';
import { StoredResponses } from './stored-responses.ts';
import { JobLines } from './job-lines.ts';
import { Members } from './credentials/members.ts';
import { CreationGrants } from './credentials/creation-grants.ts';
import { Sessions } from './credentials/sessions.ts';
import { Table } from './records/table.ts';
import { Tokens } from './credentials/tokens.ts';
import { WebhookSecrets } from './credentials/webhook-secrets.ts';

const outermost = { begin: 'BEGIN IMMEDIATE', commit: 'COMMIT', rollback: 'ROLLBACK' };
const nested = { begin: 'SAVEPOINT part', commit: 'RELEASE part', rollback: 'ROLLBACK TO part; RELEASE part' };

/** The database of the service: one SQLite file with one table per resource. */
export class Store {
	readonly accountKey: AccountKey;
	readonly apiKeys: ApiKeys;
	readonly responses: StoredResponses;
	readonly members: Members;
	readonly sessions: Sessions;
	readonly clients: Clients;
	readonly grants: Grants;
	readonly tokens: Tokens;
	/** This store; views by `storeVisibleTo` have fewer records. */
	readonly unrestricted: Store = this;
	/** The lines that jobs have not processed yet. */
	readonly jobLines: JobLines;
	/** The results of the lines that jobs have processed. */
	readonly jobResults: JobLines;
	/** The log of events. */
	readonly events: EventLog;
	/** The deliveries of events to subscriptions. */
	readonly deliveries: DeliveryLog;
	readonly creationGrants: CreationGrants;
	readonly webhookSecrets: WebhookSecrets;
	readonly writeClock: WriteClock;
	private readonly closing = new AbortController();
	private readonly database: DatabaseSync;
	private readonly tables = new Map<string, Table>();
	/** The tables of custom objects' records, by the id of the object. */
	private readonly customTables = new Map<string, Table>();

	/** @param path of a file, which is created if it does not exist, or `:memory:` */
	constructor(path: string) {
		this.database = new DatabaseSync(path);
		this.database.exec(`
			PRAGMA busy_timeout = 5000;
			PRAGMA journal_mode = WAL;
			PRAGMA synchronous = NORMAL;
			PRAGMA cache_size = -65536;
			PRAGMA temp_store = MEMORY;
			PRAGMA secure_delete = ON;
		`);
		addFoldCase(this.database);
		this.accountKey = new AccountKey(this.database);
		this.apiKeys = new ApiKeys(this.database);
		this.responses = new StoredResponses(this.database);
		this.members = new Members(this.database, () => this.table(users.name)!);
		this.sessions = new Sessions(this.database);
		this.clients = new Clients(this.database);
		this.grants = new Grants(this.database);
		this.tokens = new Tokens(this.database, this.accountKey);
		for (const resource of [...resources, jobs, webhooks]) {
			this.tables.set(resource.name, new Table(this.database, resource));
		}
		this.jobLines = new JobLines(this.database, 'job_items');
		this.jobResults = new JobLines(this.database, 'job_results');
		this.events = new EventLog(this.database);
		this.deliveries = new DeliveryLog(this.database);
		this.creationGrants = new CreationGrants(this.database);
		this.webhookSecrets = new WebhookSecrets(this.database);
		this.writeClock = new WriteClock(this.latestStamp());
	}

	/** The table of a resource; undefined if the service has no such resource. */
	table(resource: string): Table | undefined {
		return this.tables.get(resource) ?? this.customTable(resource);
	}

	/** Whether a caller sees every record: an API key or an administrator. */
	seesAll({ type, id }: Actor): boolean {
		return type !== 'user' || this.members.find(id)?.role === 'admin';
	}

	/** Signs a user out everywhere, and revokes every grant to an application. */
	endAccess(userId: string): void {
		this.sessions.closeAll(userId);
		this.grants.revokeOfUser(userId);
	}

	/** Removes the values of an erased record from stored responses and from results of jobs. */
	eraseCopies(recordId: string): void {
		this.responses.erase(recordId);
		this.jobResults.erase(recordId);
	}

	/** Moves the write-ahead log into the file, so that erased values are in neither. */
	checkpoint(): void {
		this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
	}

	/** Deletes what belongs to a deleted subscription: its deliveries and secrets. */
	endWebhook(id: string): void {
		this.deliveries.drop(id);
		this.webhookSecrets.drop(id);
		this.creationGrants.drop(id);
	}

	/**
	 * Commits everything that `work` writes, or rolls it back if `work` throws or `isKept` rejects its result. Inside
	 * another transaction it is a savepoint, which is rolled back alone.
	 */
	transaction<T>(work: () => T, isKept: (result: T) => boolean = () => true): T {
		const { begin, commit, rollback } = this.database.isTransaction ? nested : outermost;
		this.database.exec(begin);
		let isDone = false;
		try {
			const result = work();
			isDone = isKept(result);
			this.database.exec(isDone ? commit : rollback);
			return result;
		} catch (error) {
			this.database.exec(rollback);
			throw error;
		} finally {
			if (!isDone) this.forget();
		}
	}

	/** Clears caches after a rollback, and drops tables that the rollback removed. */
	private forget(): void {
		for (const table of this.tables.values()) table.forget();
		for (const [id, table] of this.customTables) {
			if (table.exists()) table.forget();
			else this.customTables.delete(id);
		}
	}

	/** The table of a custom object's records, created on first use. */
	private customTable(resource: string): Table | undefined {
		const key = objectKeyOf(resource);
		if (key === undefined) return undefined;
		const objects = this.tables.get(customObjects.name)!;
		const definition = objects.cached(`key ${key}`, () => objects.findAll([equals('key', key)], 1)[0]);
		return definition && getOrCreate(this.customTables, definition.id, () => new Table(this.database, recordsOf(definition)));
	}

	/** The instant of the latest write; empty for a new database. */
	private latestStamp(): string {
		const latest = [...this.tables.values()].map((table) => table.lastUpdate());
		return [...latest, this.events.lastInstant()].toSorted().at(-1)!;
	}

	/** Aborts when the store closes, for work that outlives a request. */
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

/**
 * The timestamps of writes. They never decrease, even if the service's clock does or a transition is
 * applied after its due time, so that a client that reads changes since the latest timestamp it has
 * seen misses nothing.
 */
class WriteClock {
	private latest: string;
	/** The argument of the last call: a batch stamps the same instant many times. */
	private lastNow = NaN;

	/** @param latest the latest stored timestamp; empty for a new database */
	constructor(latest: string) {
		this.latest = latest;
	}

	/**
	 * @param now in milliseconds since 1970
	 * @returns an RFC 3339 instant: now, or the latest timestamp if that is later
	 */
	stamp(now: number): string {
		if (now === this.lastNow) return this.latest;
		this.lastNow = now;
		const at = new Date(now).toISOString();
		if (at > this.latest) this.latest = at;
		return this.latest;
	}
}
