import type { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PreparedStatements } from './prepared-statements.ts';
import type { Query, Row } from './query.ts';
import type { ReadAnswer, ReadRequest } from './reader-thread.ts';

interface Waiting {
	resolve(rows: Row[][]): void;
	reject(error: Error): void;
}

/**
 * Runs slow reads, such as a search among 100,000 records, in a thread with its own connection, so
 * that short requests do not wait for them. An in-memory database is visible to one connection only,
 * so its reads run in this thread.
 */
export class BackgroundReader {
	private readonly database: DatabaseSync;
	private readonly path: string;
	private readonly statements: PreparedStatements;
	private readonly waiting = new Map<number, Waiting>();
	private thread: Worker | undefined;
	private lastId = 0;

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
			return queries.map(({ sql, values }) => this.statements.get(sql).all(...values));
		}
		const thread = (this.thread ??= this.start());
		const id = ++this.lastId;
		return await new Promise((resolve, reject) => {
			this.waiting.set(id, { resolve, reject });
			thread.ref();
			thread.postMessage({ id, queries } satisfies ReadRequest);
		});
	}

	close(): void {
		const { thread } = this;
		if (!thread) return;
		this.stop(new Error('The store was closed.'));
		void thread.terminate();
	}

	private start(): Worker {
		const file = join(import.meta.dirname, 'reader-thread.ts');
		const thread = new Worker(file, { workerData: this.path });
		thread.on('message', ({ id, rows, error }: ReadAnswer) => {
			const { resolve, reject } = this.waiting.get(id)!;
			this.waiting.delete(id);
			// An idle thread does not keep the process alive.
			if (this.waiting.size === 0) thread.unref();
			if (rows) resolve(rows);
			else reject(error!);
		});
		thread.on('error', (error) => this.stop(error as Error));
		return thread;
	}

	/** Rejects the pending reads; the next read starts a new thread. */
	private stop(error: Error): void {
		this.thread = undefined;
		for (const { reject } of this.waiting.values()) reject(error);
		this.waiting.clear();
	}
}
