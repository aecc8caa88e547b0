import type { DatabaseSync } from 'node:sqlite';
import { PreparedStatements } from './prepared.ts';

const outermost = { begin: ['BEGIN IMMEDIATE'], commit: ['COMMIT'], rollback: ['ROLLBACK'] };
const nested = {
	begin: ['SAVEPOINT part'],
	commit: ['RELEASE part'],
	rollback: ['ROLLBACK TO part', 'RELEASE part'],
};

/** Runs one part of a transaction, whose effect is kept unless it throws. */
export type Part = <R>(effect: () => R) => R;

/** A part failed after it had written something. */
class PartlyWritten extends Error {}

/** What is written together is kept together, or not at all. */
export class Transactions {
	private readonly database: DatabaseSync;
	private readonly statements: PreparedStatements;
	private readonly onStale: () => void;
	private version = 0;

	/**
	 * @param onStale called when what was read before is out of date: after a rollback, or when another
	 * process has written to the file
	 */
	constructor(database: DatabaseSync, onStale: () => void) {
		this.database = database;
		this.statements = new PreparedStatements(database);
		this.onStale = onStale;
	}

	/**
	 * Everything `work` writes is kept, or nothing if it throws or `isKept` turns its result down.
	 * Inside another transaction it is a part of that one, and can be undone alone.
	 */
	run<T>(work: () => T, isKept: (result: T) => boolean = () => true): T {
		const { begin, commit, rollback } = this.database.isTransaction ? nested : outermost;
		this.execute(begin);
		if (begin === outermost.begin) this.noticeOthers();
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
	 * A transaction of many parts, each of which is kept whole or not at all.
	 *
	 * A savepoint for each part would cost more than the part, as the index for search is written out
	 * at each. Most parts that fail do so before they have written anything, so the first run has no
	 * savepoints, and where one would have been needed, all is rolled back and done again with them.
	 *
	 * @param work runs its parts with the function it is given; it may be called twice
	 */
	runParts<T>(work: (part: Part) => T, isKept?: (result: T) => boolean): T {
		const unprotected: Part = (effect) => {
			const before = this.changes();
			try {
				return effect();
			} catch (error) {
				if (this.changes() !== before) throw new PartlyWritten();
				throw error;
			}
		};
		try {
			return this.run(() => work(unprotected), isKept);
		} catch (error) {
			if (!(error instanceof PartlyWritten)) throw error;
			return this.run(() => work((effect) => this.run(effect)), isKept);
		}
	}

	/** How many rows this connection has written. */
	private changes(): number {
		return this.statements.get('SELECT total_changes() AS value').get()!['value'] as number;
	}

	private execute(statements: string[]): void {
		for (const sql of statements) this.statements.get(sql).run();
	}

	private noticeOthers(): void {
		const version = this.statements.get('PRAGMA data_version').get()!['data_version'] as number;
		if (version !== this.version) this.onStale();
		this.version = version;
	}
}
