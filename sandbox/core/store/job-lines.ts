import type { DatabaseSync } from 'node:sqlite';
import { statementsOf } from './statements.ts';
import { withErased } from '../foundation/json.ts';

export interface Line {
	/** The position in the file, from 0. */
	position: number;
	text: string;
}

/** The lines of jobs' NDJSON files, either uploads or results. */
export class JobLines {
	private readonly statements;
	private readonly database: DatabaseSync;
	private readonly name: string;

	/** @param name the name of the table; the table of jobs must exist */
	constructor(database: DatabaseSync, name: string) {
		this.database = database;
		this.name = name;
		this.statements = statementsOf(database, `
			CREATE TABLE IF NOT EXISTS ${name} (
				job_id TEXT, position INTEGER, text TEXT NOT NULL, PRIMARY KEY (job_id, position)
			) WITHOUT ROWID
		`, {
			insert: `INSERT INTO ${name} VALUES (?, ?, ?)`,
			page: `
				SELECT position, text FROM ${name} WHERE job_id = ? AND position > ?
				ORDER BY position LIMIT ?
			`,
			with: `SELECT * FROM ${name} WHERE instr(text, ?) > 0`,
			update: `UPDATE ${name} SET text = ? WHERE job_id = ? AND position = ?`,
			shorten: `DELETE FROM ${name} WHERE job_id = ? AND position <= ?`,
		});
	}

	add(jobId: string, { position, text }: Line): void {
		this.statements.insert.run(jobId, position, text);
	}

	/** Reads the lines after a position, in order. */
	page(jobId: string, after: number, limit: number): Line[] {
		return this.statements.page.all(jobId, after, limit) as unknown as Line[];
	}

	/** Removes the values of a record from all lines. */
	erase(recordId: string): void {
		const { with: lines, update } = this.statements;
		for (const { job_id: job, position, text } of lines.all(recordId)) {
			update.run(withErased(text as string, recordId), job!, position!);
		}
	}

	/** Removes the lines up to a position. */
	dropUntil(jobId: string, position: number): void {
		this.statements.shorten.run(jobId, position);
	}

	drop(jobId: string): void {
		this.dropUntil(jobId, Number.MAX_SAFE_INTEGER);
	}

	/**
	 * Deletes the lines of expired jobs.
	 *
	 * @param now an RFC 3339 instant
	 */
	dropExpired(now: string): void {
		const expired = "SELECT id FROM jobs WHERE results_expire_at <> '' AND results_expire_at <= ?";
		this.database.prepare(`DELETE FROM ${this.name} WHERE job_id IN (${expired})`).run(now);
	}
}
