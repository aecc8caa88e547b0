import { DatabaseSync } from 'node:sqlite';
import { resources } from '../schemas/index.ts';
import { ApiKeys } from './api-keys.ts';
import { KeptAnswers } from './idempotency.ts';
import { Table } from './table.ts';

/** All that is kept: one SQLite database, one table per resource. */
export class Store {
	readonly apiKeys: ApiKeys;
	readonly answers: KeptAnswers;
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
		this.tables = this.transaction(
			() => new Map(resources.map((resource) => [resource.name, new Table(this.database, resource)])),
		);
	}

	/** The table of a resource, unless the service has no such resource. */
	table(resource: string): Table | undefined {
		return this.tables.get(resource);
	}

	/** Everything `work` writes is kept, or nothing if it throws. */
	transaction<T>(work: () => T): T {
		this.database.exec('BEGIN IMMEDIATE');
		try {
			const result = work();
			this.database.exec('COMMIT');
			return result;
		} catch (error) {
			this.database.exec('ROLLBACK');
			throw error;
		}
	}

	get isOpen(): boolean {
		return this.database.isOpen;
	}

	close(): void {
		this.database.close();
	}
}
