import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Somebody who can sign in; the id is that of the user. */
export interface Member {
	id: string;
	email: string;
	name: string;
	/**
	 * Administrators see every record and the settings. The role in the users resource does not
	 * decide this: a token that may write users must not make anybody an administrator.
	 */
	role: 'admin' | 'member';
}

/** The people who can sign in, with hashes of their passwords that `isPassword` reads. */
export class Members {
	private readonly insert: StatementSync;
	private readonly select: StatementSync;
	private readonly selectByEmail: StatementSync;

	constructor(database: DatabaseSync) {
		database.exec(`
			CREATE TABLE IF NOT EXISTS members (
				user_id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
				role TEXT NOT NULL, password TEXT NOT NULL
			)
		`);
		this.insert = database.prepare(
			'INSERT INTO members VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
		);
		this.select = database.prepare('SELECT * FROM members WHERE user_id = ?');
		this.selectByEmail = database.prepare('SELECT * FROM members WHERE email = ?');
	}

	/** Adding somebody again changes nothing. */
	add({ id, email, name, role }: Member, passwordHash: string): void {
		this.insert.run(id, email, name, role, passwordHash);
	}

	find(id: string): Member | undefined {
		const row = this.select.get(id);
		return row && memberOf(row);
	}

	/** @param email in any case */
	findByEmail(email: string): { member: Member; passwordHash: string } | undefined {
		const row = this.selectByEmail.get(email.trim().toLowerCase());
		return row && { member: memberOf(row), passwordHash: row['password'] as string };
	}
}

/** @param row with the columns of `members` */
export const memberOf = (row: Record<string, unknown>): Member => ({
	id: row['user_id'] as string,
	email: row['email'] as string,
	name: row['name'] as string,
	role: row['role'] as Member['role'],
});
