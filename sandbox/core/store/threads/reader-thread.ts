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
	/** The path of the database file. */
	path: string;
	/** Whether the thread has a low priority, so that short requests go first even if all processors are busy. */
	isPatient: boolean;
}

/** Many or large rows, which are received from a port in parts. */
export interface Parts {
	port: MessagePort;
	count: number;
}

/** Holds rows, all of them or in parts, or an error. */
export interface ReadResult {
	id: number;
	rows?: Row[][];
	parts?: Parts;
	error?: Error;
}

const { path, isPatient } = workerData as ThreadSetup;

// Only Linux supports thread priorities; elsewhere this file does not exist.
if (isPatient && existsSync('/proc/thread-self')) setPriority(Number(basename(readlinkSync('/proc/thread-self'))), 10);

const database = new DatabaseSync(path);
// This thread only reads, except when it checkpoints the write-ahead log. There are several such threads, so
// each caches less than the main one.
database.exec('PRAGMA query_only = 1; PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16384');
addFoldCase(database);
const statements = new PreparedStatements(database);

/** Reads in one transaction, so that all queries see the same state. */
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
		send(id, read(queries));
	} catch (error) {
		parentPort!.postMessage({ id, error: error as Error } satisfies ReadResult);
	}
});

/** The other thread does nothing else while it receives a message, so a large result is split into many messages. */
function send(id: number, rows: Row[][]): void {
	const parts = partsOf(rows);
	if (parts.length <= rows.length) return parentPort!.postMessage({ id, rows } satisfies ReadResult);
	const { port1, port2 } = new MessageChannel();
	for (const part of parts) port1.postMessage(part);
	parentPort!.postMessage({ id, parts: { port: port2, count: parts.length } } satisfies ReadResult, [port2]);
}
