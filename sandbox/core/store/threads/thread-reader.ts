import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Query, Row } from './select.ts';
import type { ReadAnswer, ReadRequest, ThreadSetup } from './reader-thread.ts';

interface Waiting {
	resolve(rows: Row[][]): void;
	reject(error: Error): void;
}

/** A thread that reads the database, one request after the other. */
export class ThreadReader {
	isRunning = true;
	private readonly thread: Worker;
	private readonly waiting = new Map<number, Waiting>();
	private lastId = 0;

	constructor(setup: ThreadSetup) {
		this.thread = new Worker(join(import.meta.dirname, 'reader-thread.ts'), { workerData: setup });
		this.thread.on('message', ({ id, rows, error }: ReadAnswer) => {
			const waiting = this.waiting.get(id);
			// Closed meanwhile, it has failed.
			if (!waiting) return;
			this.waiting.delete(id);
			// An idle thread does not keep the process alive.
			if (this.waiting.size === 0) this.thread.unref();
			if (rows) waiting.resolve(rows);
			else waiting.reject(error!);
		});
		this.thread.on('error', (error) => this.stop(error as Error));
	}

	/** The number of requests that are not answered yet. */
	get load(): number {
		return this.waiting.size;
	}

	async read(queries: Query[]): Promise<Row[][]> {
		const id = ++this.lastId;
		return await new Promise((resolve, reject) => {
			this.waiting.set(id, { resolve, reject });
			this.thread.ref();
			this.thread.postMessage({ id, queries } satisfies ReadRequest);
		});
	}

	close(): void {
		this.stop(new Error('The store was closed.'));
		void this.thread.terminate();
	}

	private stop(error: Error): void {
		this.isRunning = false;
		for (const { reject } of this.waiting.values()) reject(error);
		this.waiting.clear();
	}
}
