import { DatabaseSync } from 'node:sqlite';
import { customObjects, objectKeyOf, recordsOf } from '../schemas/custom-objects.ts';
import { resources } from '../schemas/index.ts';
import { jobs } from '../schemas/jobs.ts';
import { ApiKeys } from './api-keys.ts';
import { Clients } from './clients.ts';
import { Grants } from './grants.ts';
import { KeptAnswers } from './idempotency.ts';
import { JobLines } from './job-lines.ts';
import { Members } from './members.ts';
import { Sessions } from './sessions.ts';
import { Table } from './table.ts';
import { Tokens } from './tokens.ts';

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
	private readonly database: DatabaseSync;
	private readonly tables: Map<string, Table>;

	/** @param path of a file, made if need be, or `:memory:` */
	constructor(path: string) {
		this.database = new DatabaseSync(path);
		this.database.exec(`
			PRAGMA journal_mode = WAL;
			PRAGMA synchronous = NORMAL;
			PRAGMA busy_timeout = 5000;
			PRAGMA cache_size = -65536;
		`);
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
					[...resources, jobs].map((resource) => [resource.name, new Table(this.database, resource)]),
				),
		);
		this.jobItems = new JobLines(this.database, 'job_items');
		this.jobResults = new JobLines(this.database, 'job_results');
	}

	/** The table of a resource, unless the service has no such resource. */
	table(resource: string): Table | undefined {
		return this.tables.get(resource) ?? this.customTable(resource);
	}

	/**
	 * The store as a caller sees it. For a user who is no administrator it is without the records
	 * that are not theirs to see (`visibleTo`): whatever goes through it can neither find nor
	 * change them.
	 */
	seenBy({ type, id }: { type: string; id: string }): Store {
		if (type !== 'user' || this.members.find(id)?.role === 'admin') return this;
		const table = (resource: string) => this.table(resource)?.seenBy(id);
		return Object.create(this, { table: { value: table } }) as Store;
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

	get isOpen(): boolean {
		return this.database.isOpen;
	}

	close(): void {
		this.database.close();
	}
}
