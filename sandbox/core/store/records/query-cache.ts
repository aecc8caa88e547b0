import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { getOrCreate } from '../../foundation/maps.ts';
import { hashOf } from '../credentials/secrets.ts';

const maxRemembered = 1000;

/** Caches what was read from a table since its last change. */
export class QueryCache {
	/** The number of changes of the table so far. */
	changes = 0;
	private readonly database: DatabaseSync;
	private readonly values = new Map<string, unknown>();
	private readonly dataVersion: StatementSync;
	private version = 0;

	constructor(database: DatabaseSync) {
		this.database = database;
		this.dataVersion = database.prepare('PRAGMA data_version');
	}

	/** The cached value, unless another process has written to the file since. */
	get<T>(key: string): T | undefined {
		// A transaction checks for changes when it begins, and no other process can write during it.
		if (!this.database.isTransaction) {
			const version = this.dataVersion.get()!['data_version'] as number;
			if (version !== this.version) this.clear();
			this.version = version;
		}
		return this.values.get(shortened(key)) as T | undefined;
	}

	set(key: string, value: unknown): void {
		if (this.values.size >= maxRemembered) this.values.clear();
		this.values.set(shortened(key), value);
	}

	/** Returns the cached value, or reads and caches it. */
	getOrRead<T>(key: string, read: () => T): T {
		return getOrCreate<string, T>(this, key, read);
	}

	clear(): void {
		this.changes += 1;
		if (this.values.size > 0) this.values.clear();
	}
}

const maxKeyLength = 100;

/** Keys contain the filters of a list, which may have 16 KiB. */
const shortened = (key: string): string => key.length > maxKeyLength ? hashOf(key).toString('base64') : key;
