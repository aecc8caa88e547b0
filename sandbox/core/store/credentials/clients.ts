import { timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { statementsOf } from '../statements.ts';
import { hashOf } from './secrets.ts';

/** A registered OAuth client (RFC 6749, 2). */
export interface Client {
	id: string;
	name: string;
	redirectUris: string[];
	/** Whether it has a secret; public clients, such as mobile apps, cannot keep one. */
	isConfidential: boolean;
	/** Milliseconds since 1970. */
	createdAt: number;
}

/** The registered clients. Only hashes of their secrets are stored. */
export class Clients {
	private readonly statements;

	constructor(database: DatabaseSync) {
		this.statements = statementsOf(database, `
			CREATE TABLE IF NOT EXISTS oauth_clients (
				id TEXT PRIMARY KEY, name TEXT NOT NULL, redirect_uris TEXT NOT NULL,
				secret_hash BLOB, created_at REAL NOT NULL
			)
		`, {
			insert: `
				INSERT INTO oauth_clients VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
				SET name = excluded.name, redirect_uris = excluded.redirect_uris,
					secret_hash = excluded.secret_hash
			`,
			select: 'SELECT * FROM oauth_clients WHERE id = ?',
			selectAll: 'SELECT * FROM oauth_clients ORDER BY created_at, id',
			delete: 'DELETE FROM oauth_clients WHERE id = ?',
		});
	}

	/**
	 * Adds or updates a client; its grants remain.
	 *
	 * @param secret undefined for a public client
	 */
	add(client: Omit<Client, 'isConfidential'>, secret: string | undefined): void {
		const { id, name, redirectUris, createdAt } = client;
		const hash = secret === undefined ? null : hashOf(secret);
		this.statements.insert.run(id, name, JSON.stringify(redirectUris), hash, createdAt);
	}

	find(id: string): Client | undefined {
		const row = this.statements.select.get(id);
		return row && clientOf(row);
	}

	/** Compares in constant time. A public client has no secret, so none matches. */
	hasSecret(id: string, secret: string): boolean {
		const hash = this.statements.select.get(id)?.['secret_hash'];
		return hash instanceof Uint8Array && timingSafeEqual(hash, hashOf(secret));
	}

	/** Lists the clients, oldest first. */
	list(): Client[] {
		return this.statements.selectAll.all().map(clientOf);
	}

	/** Deletes a client with its grants. */
	delete(id: string): void {
		this.statements.delete.run(id);
	}
}

const clientOf = (row: Record<string, unknown>): Client => ({
	id: row['id'] as string,
	name: row['name'] as string,
	redirectUris: JSON.parse(row['redirect_uris'] as string) as string[],
	isConfidential: row['secret_hash'] !== null,
	createdAt: row['created_at'] as number,
});
