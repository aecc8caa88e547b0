import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoredRecord } from '../../schemas/resource.ts';
import { equals } from '../records/condition.ts';
import type { Table } from '../records/table.ts';

/** The role of a user: administrators see every record, viewers change none. */
export type Role = 'admin' | 'member' | 'viewer';

/** A user who can sign in: active and with a password. The id is the user's id. */
export interface Member {
	id: string;
	email: string;
	name: string;
	role: Role;
}

/**
 * The users who can sign in, with their password hashes in the format of `isPassword`. Everything else,
 * including the role, is read from the users resource, which is the single source of truth.
 */
export class Members {
	private readonly users: () => Table;
	private readonly insert: StatementSync;
	private readonly select: StatementSync;

	/** @param users returns the table of users, which is created after this one */
	constructor(database: DatabaseSync, users: () => Table) {
		this.users = users;
		database.exec(`
			CREATE TABLE IF NOT EXISTS members (user_id TEXT PRIMARY KEY, password TEXT NOT NULL)
		`);
		this.insert = database.prepare('INSERT OR IGNORE INTO members (user_id, password) VALUES (?, ?)');
		this.select = database.prepare('SELECT password FROM members WHERE user_id = ?');
	}

	/** Adds a member. Adding a member again changes nothing. */
	add(id: string, passwordHash: string): void {
		this.insert.run(id, passwordHash);
	}

	/** Finds a user who can sign in now. */
	find(id: string): Member | undefined {
		const user = this.select.get(id) && this.users().find(id);
		return user && memberOf(user);
	}

	/** Finds a user who can sign in now. @param email in any case */
	findByEmail(email: string): { member: Member; passwordHash: string } | undefined {
		const [user] = this.users().findAll([equals('email', email.trim().toLowerCase())], 1);
		const row = user && this.select.get(user.id);
		const member = user && memberOf(user);
		return row && member && { member, passwordHash: row['password'] as string };
	}
}

const roles: Record<string, Role> = { owner: 'admin', admin: 'admin', member: 'member', viewer: 'viewer' };

function memberOf(user: StoredRecord): Member | undefined {
	const role = roles[String(user['role'])];
	if (user['status'] !== 'active' || !role) return undefined;
	return { id: user.id, email: String(user['email']), name: String(user['name']), role };
}
