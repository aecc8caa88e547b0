import type { DatabaseSync, StatementSync } from 'node:sqlite';

const mostRemembered = 1000;

/** What was read from a table since its last change. */
export class Memory {
	/** How often the table has changed. */
	changes = 0;
	private readonly database: DatabaseSync;
	private readonly known = new Map<string, unknown>();
	private readonly dataVersion: StatementSync;
	private version = 0;

	constructor(database: DatabaseSync) {
		this.database = database;
		this.dataVersion = database.prepare('PRAGMA data_version');
	}

	/** What is remembered, unless another process has written to the file since. */
	recall<T>(key: string): T | undefined {
		// At the beginning of a transaction the store looks, and during it nobody else can write.
		if (!this.database.isTransaction) {
			const version = this.dataVersion.get()!['data_version'] as number;
			if (version !== this.version) this.forget();
			this.version = version;
		}
		return this.known.get(key) as T | undefined;
	}

	keep(key: string, value: unknown): void {
		if (this.known.size >= mostRemembered) this.known.clear();
		this.known.set(key, value);
	}

	forget(): void {
		this.changes += 1;
		if (this.known.size > 0) this.known.clear();
	}
}
