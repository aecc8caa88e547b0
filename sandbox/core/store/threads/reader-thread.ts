import { existsSync, readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MessageChannel, type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { addFoldCase } from '../records/fold-case.ts';
import { partsOf, readRows } from './page-rows.ts';
import { PreparedStatements } from './prepared-statements.ts';
import type { Query, Row } from './query.ts';

export interface ReadRequest {
	id: number;
	queries: Query[];
}

export interface ThreadSetup {
	/** Of the database file. */
	path: string;
	/** Whether those who wait for a short request go first, even if all processors are busy. */
	isPatient: boolean;
}

/** Many or large rows, which wait at a port. */
export interface Parts {
	port: MessagePort;
	count: number;
}

/** Holds rows, all of them or in parts, or an error. */
export interface ReadAnswer {
	id: number;
	rows?: Row[][];
	parts?: Parts;
	error?: Error;
}

const { path, isPatient } = workerData as ThreadSetup;

// Only Linux supports thread priorities; elsewhere this file does not exist.
if (isPatient && existsSync('/proc/thread-self')) setPriority(Number(basename(readlinkSync('/proc/thread-self'))), 10);

const database = new DatabaseSync(path);
// It only reads, but for moving what others wrote from the log into the file. There are several threads, so
// each caches less than the main one.
database.exec('PRAGMA query_only = 1; PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16384');
addFoldCase(database);
const statements = new PreparedStatements(database);

/** In one transaction, so that all queries see the same state. */
function read(queries: Query[]): Row[][] {
	database.exec('BEGIN');
	try {
		return queries.map((query) => readRows(statements.get(query.sql), query));
	} finally {
		database.exec('COMMIT');
	}
}

parentPort!.on('message', ({ id, queries }: ReadRequest) => {
	try {
		answer(id, read(queries));
	} catch (error) {
		parentPort!.postMessage({ id, error: error as Error } satisfies ReadAnswer);
	}
});

/** The other thread does nothing else while it takes a message, so a large answer becomes many of them. */
function answer(id: number, rows: Row[][]): void {
	const parts = partsOf(rows);
	if (parts.length <= rows.length) return parentPort!.postMessage({ id, rows } satisfies ReadAnswer);
	const { port1, port2 } = new MessageChannel();
	for (const part of parts) port1.postMessage(part);
	parentPort!.postMessage({ id, parts: { port: port2, count: parts.length } } satisfies ReadAnswer, [port2]);
}
