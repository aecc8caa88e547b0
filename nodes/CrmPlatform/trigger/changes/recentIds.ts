/** Maximum number of identities: about 1 MB of memory. */
const capacity = 10_000;

/** Remembers the latest identities. */
export class RecentIds {
	private identities = new Set<string>();

	has(identity: string): boolean {
		return this.identities.has(identity);
	}

	add(identity: string): void {
		this.identities.delete(identity);
		this.identities.add(identity);
		const [oldest] = this.identities;
		if (this.identities.size > capacity && oldest !== undefined) this.identities.delete(oldest);
	}

	delete(identity: string): void {
		this.identities.delete(identity);
	}

	clear(): void {
		this.identities.clear();
	}
}
