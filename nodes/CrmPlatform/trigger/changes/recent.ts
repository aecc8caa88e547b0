/** Ids of the latest events, in about 1 MB of memory. */
const capacity = 10_000;

/** Remembers the ids that came last. */
export class RecentIds {
	private ids = new Set<string>();

	has(id: string): boolean {
		return this.ids.has(id);
	}

	add(id: string): void {
		this.ids.delete(id);
		this.ids.add(id);
		const [oldest] = this.ids;
		if (this.ids.size > capacity && oldest !== undefined) this.ids.delete(oldest);
	}

	clear(): void {
		this.ids.clear();
	}
}
