import type { DatabaseSync } from 'node:sqlite';
import { readRows } from './page-rows.ts';
import { PreparedStatements } from './prepared-statements.ts';
import type { Query, Row } from './query.ts';
import { ThreadReader } from './thread-reader.ts';

/** Maximum number of slow reads at a time; further ones wait. */
const maxThreads = 4;

/**
 * Runs slow reads, such as a search among 100,000 records, in threads with their own connections, so
 * that short requests do not wait for them, nor one search for another. An in-memory database is visible
 * to one connection only, so its reads run in this thread.
 */
export class BackgroundReader {
	private readonly database: DatabaseSync;
	private readonly path: string;
	private readonly statements: PreparedStatements;
	private threads: ThreadReader[] = [];
	private writer: ThreadReader | undefined;

	/** @param path of the file that `database` has open, or `:memory:` */
	constructor(database: DatabaseSync, path: string) {
		this.database = database;
		this.path = path;
		this.statements = new PreparedStatements(database);
	}

	/** @returns the rows of each query, from one snapshot */
	async read(queries: Query[]): Promise<Row[][]> {
		// Uncommitted writes are visible on their own connection only.
		if (this.path === ':memory:' || this.database.isTransaction) {
			return queries.map((query) => readRows(this.statements.get(query.sql), query));
		}
		return await this.freeThread().read(queries);
	}

	/**
	 * Checkpoints the write-ahead log, which waits for the disk. It has a separate thread, because jobs wait for
	 * it: otherwise they would wait for searches, which run at a low priority.
	 */
	async checkpoint(): Promise<void> {
		if (this.path === ':memory:') return;
		if (!this.writer?.isRunning) this.writer = new ThreadReader({ path: this.path, isPatient: false });
		await this.writer.read([{ sql: 'PRAGMA wal_checkpoint', values: [] }]);
	}

	close(): void {
		for (const thread of [...this.threads, ...(this.writer ? [this.writer] : [])]) thread.close();
	}

	/** An idle thread, or the least busy one. */
	private freeThread(): ThreadReader {
		this.threads = this.threads.filter(({ isRunning }) => isRunning);
		const [leastBusy] = this.threads.toSorted((a, b) => a.load - b.load);
		if (leastBusy && (leastBusy.load === 0 || this.threads.length >= maxThreads)) return leastBusy;
		const thread = new ThreadReader({ path: this.path, isPatient: true });
		this.threads.push(thread);
		return thread;
	}
}
