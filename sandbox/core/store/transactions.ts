import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Memory } from './records/memory.ts';

const outermost = { begin: ['BEGIN IMMEDIATE'], commit: ['COMMIT'], rollback: ['ROLLBACK'] };
const nested = { begin: ['SAVEPOINT part'], commit: ['RELEASE part'], rollback: ['ROLLBACK TO part', 'RELEASE part'] };

/** Runs one part of a transaction; the part is rolled back if it throws. */
export type Part = <R>(write: () => R) => R;

/** A part failed after it had written. */
class PartlyWritten extends Error {}

/** Transactions with nested parts. */
export class Transactions {
	private readonly database: DatabaseSync;
	private readonly statements = new Memory();
	private readonly totalChanges: StatementSync;
	private readonly onStale: () => void;

	/** @param onStale called when cached reads are stale: after a rollback */
	constructor(database: DatabaseSync, onStale: () => void) {
		this.database = database;
		this.totalChanges = database.prepare('SELECT total_changes() AS value');
		this.onStale = onStale;
	}

	/**
	 * Commits everything that `work` writes, or rolls it back if `work` throws or `isKept` rejects its
	 * result. Inside another transaction it is a savepoint, which is rolled back alone.
	 */
	run<T>(work: () => T, isKept: (result: T) => boolean = () => true): T {
		const { begin, commit, rollback } = this.database.isTransaction ? nested : outermost;
		this.execute(begin);
		let isDone = false;
		try {
			const result = work();
			isDone = isKept(result);
			this.execute(isDone ? commit : rollback);
			return result;
		} catch (error) {
			this.execute(rollback);
			throw error;
		} finally {
			if (!isDone) this.onStale();
		}
	}

	/**
	 * Runs a transaction of many parts, each of which is atomic.
	 *
	 * A savepoint for each part would cost more than the part. Most parts that fail do so before they write, so the
	 * first run has no savepoints; if a part fails after it has written, everything is rolled back and run again with them.
	 *
	 * @param work runs each part with the function that it receives; it may be called twice
	 */
	runParts<T>(work: (part: Part) => T, isKept?: (result: T) => boolean): T {
		const unprotected: Part = (write) => {
			const before = this.changes();
			try {
				return write();
			} catch (error) {
				if (this.changes() !== before) throw new PartlyWritten();
				throw error;
			}
		};
		try {
			return this.run(() => work(unprotected), isKept);
		} catch (error) {
			if (!(error instanceof PartlyWritten)) throw error;
			return this.run(() => work((write) => this.run(write)), isKept);
		}
	}

	/** The number of rows that this connection has written. */
	private changes(): number {
		return this.totalChanges.get()!['value'] as number;
	}

	private execute(statements: string[]): void {
		for (const sql of statements) this.statements.get(sql, () => this.database.prepare(sql)).run();
	}
}
