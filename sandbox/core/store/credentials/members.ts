import type { DatabaseSync } from 'node:sqlite';
import type { StoredRecord } from '../../schemas/resource.ts';
import { equals } from '../records/condition.ts';
import type { Table } from '../records/table.ts';
import { statementsOf } from '../statements.ts';

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
 * The users who can sign in, with their passwords, which the sign-in page shows: they are made up. Everything else,
 * including the role, is read from the users resource, which is the single source of truth.
 */
export class Members {
	private readonly users: () => Table;
	private readonly statements;

	/** @param users returns the table of users, which is created after this one */
	constructor(database: DatabaseSync, users: () => Table) {
		this.users = users;
		this.statements = statementsOf(database, 'CREATE TABLE IF NOT EXISTS members (user_id TEXT PRIMARY KEY, password TEXT NOT NULL)', {
			insert: 'INSERT INTO members VALUES (?, ?) ON CONFLICT DO UPDATE SET password = excluded.password',
			select: 'SELECT password FROM members WHERE user_id = ?',
		});
	}

	add(id: string, password: string): void {
		this.statements.insert.run(id, password);
	}

	/** Finds a user who can sign in now. */
	find(id: string): Member | undefined {
		const user = this.statements.select.get(id) && this.users().find(id);
		return user && memberOf(user);
	}

	/** Finds the user who signs in with this password. @param email in any case */
	verify(email: string, password: string): Member | undefined {
		const [user] = this.users().findAll([equals('email', email.trim().toLowerCase())], 1);
		return user && this.statements.select.get(user.id)?.['password'] === password ? memberOf(user) : undefined;
	}
}

const roles: Record<string, Role> = { owner: 'admin', admin: 'admin', member: 'member', viewer: 'viewer' };

function memberOf(user: StoredRecord): Member | undefined {
	const role = roles[String(user['role'])];
	if (user['status'] !== 'active' || !role) return undefined;
	return { id: user.id, email: String(user['email']), name: String(user['name']), role };
}
