import type { DatabaseSync, StatementSync } from 'node:sqlite';

export interface Line {
	/** Its place in the file, from 0. */
	position: number;
	text: string;
}

/** The lines of the NDJSON files of jobs, those that come in or those that go out. */
export class JobLines {
	private readonly statements: Record<'insert' | 'page' | 'last' | 'shorten', StatementSync>;
	private readonly database: DatabaseSync;
	private readonly name: string;

	/** @param name of the table; the one of the jobs themselves has to be there */
	constructor(database: DatabaseSync, name: string) {
		this.database = database;
		this.name = name;
		database.exec(`
			CREATE TABLE IF NOT EXISTS ${name} (
				job_id TEXT, position INTEGER, text TEXT NOT NULL, PRIMARY KEY (job_id, position)
			) WITHOUT ROWID
		`);
		this.statements = {
			insert: database.prepare(`INSERT INTO ${name} VALUES (?, ?, ?)`),
			page: database.prepare(`
				SELECT position, text FROM ${name} WHERE job_id = ? AND position > ?
				ORDER BY position LIMIT ?
			`),
			last: database.prepare(`
				SELECT position, text FROM ${name} WHERE job_id = ? ORDER BY position DESC LIMIT 1
			`),
			shorten: database.prepare(`DELETE FROM ${name} WHERE job_id = ? AND position <= ?`),
		};
	}

	add(jobId: string, { position, text }: Line): void {
		this.statements.insert.run(jobId, position, text);
	}

	/** The lines after a position, in order. */
	page(jobId: string, after: number, limit: number): Line[] {
		return this.statements.page.all(jobId, after, limit) as unknown as Line[];
	}

	last(jobId: string): Line | undefined {
		return this.statements.last.get(jobId) as Line | undefined;
	}

	/** The first lines, which are then no longer there. */
	take(jobId: string, limit: number): Line[] {
		const lines = this.page(jobId, -1, limit);
		this.statements.shorten.run(jobId, lines.at(-1)?.position ?? -1);
		return lines;
	}

	drop(jobId: string): void {
		this.statements.shorten.run(jobId, Number.MAX_SAFE_INTEGER);
	}

	/** Drops what was received for jobs that never came to be. */
	dropOrphans(): void {
		this.database.exec(`DELETE FROM ${this.name} WHERE job_id NOT IN (SELECT id FROM jobs)`);
	}

	/** @param now as an RFC 3339 instant */
	dropExpired(now: string): void {
		const expired = "SELECT id FROM jobs WHERE results_expire_at <> '' AND results_expire_at <= ?";
		this.database.prepare(`DELETE FROM ${this.name} WHERE job_id IN (${expired})`).run(now);
	}
}
