import type { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PreparedStatements } from './prepared.ts';
import type { Query, Row } from './query.ts';
import type { ReadAnswer, ReadRequest } from './reader-thread.ts';

interface Waiting {
	resolve(rows: Row[][]): void;
	reject(error: Error): void;
}

/**
 * Reads that may take long, such as a search among 100,000 records. They run in a thread with a
 * connection of its own, so that short requests are answered meanwhile. An in-memory database is
 * visible to one connection only, so there they run in this thread.
 */
export class Reader {
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

	/** @returns the rows of each query, all of them as of one moment */
	async read(queries: Query[]): Promise<Row[][]> {
		// What a transaction has written so far is visible on its own connection only.
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
			// An idle thread keeps no process alive.
			if (this.waiting.size === 0) thread.unref();
			if (rows) resolve(rows);
			else reject(error!);
		});
		thread.on('error', (error) => this.stop(error as Error));
		return thread;
	}

	/** Fails what waits for the thread; the next read starts another one. */
	private stop(error: Error): void {
		this.thread = undefined;
		for (const { reject } of this.waiting.values()) reject(error);
		this.waiting.clear();
	}
}
