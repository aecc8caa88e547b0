import { join } from 'node:path';
import { receiveMessageOnPort, Worker } from 'node:worker_threads';
import { nextTurn } from '../../foundation/background.ts';
import type { PartOfRows } from './page-rows.ts';
import type { Query, Row } from './query.ts';
import type { Parts, ReadResult, ReadRequest, ThreadSetup } from './reader-thread.ts';

interface Waiting {
	resolve(result: ReadResult): void;
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
		this.thread.on('message', (result: ReadResult) => {
			const waiting = this.waiting.get(result.id);
			// If the reader was closed meanwhile, the request has failed already.
			if (!waiting) return;
			this.waiting.delete(result.id);
			// An idle thread does not keep the process alive.
			if (this.waiting.size === 0) this.thread.unref();
			waiting.resolve(result);
		});
		this.thread.on('error', (error) => this.stop(error as Error));
	}

	/** The number of requests in progress. */
	get load(): number {
		return this.waiting.size;
	}

	async read(queries: Query[]): Promise<Row[][]> {
		const id = ++this.lastId;
		const { rows, parts, error } = await new Promise<ReadResult>((resolve, reject) => {
			this.waiting.set(id, { resolve, reject });
			this.thread.ref();
			this.thread.postMessage({ id, queries } satisfies ReadRequest);
		});
		if (error) throw error;
		return rows ?? (await takeParts(parts!, queries.length));
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

/** @returns the rows of each query */
async function takeParts({ port, count }: Parts, queries: number): Promise<Row[][]> {
	const results: Row[][] = Array.from({ length: queries }, () => []);
	for (let i = 0; i < count; i++) {
		await nextTurn();
		const part = receiveMessageOnPort(port) as { message: PartOfRows } | undefined;
		if (!part) throw new Error('The store was closed.');
		const [query, rows] = part.message;
		for (const row of rows) results[query]!.push(row);
	}
	port.close();
	return results;
}
