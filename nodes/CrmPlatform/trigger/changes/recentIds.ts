import { RecentMap } from '../../base/maps';

/** Maximum number of identities: about 1 MB of memory. */
const capacity = 10_000;

/** Remembers the latest identities. */
export class RecentIds {
	private readonly identities = new RecentMap<string, true>(capacity);

	has(identity: string): boolean {
		return this.identities.get(identity) === true;
	}

	add(identity: string): void {
		this.identities.set(identity, true);
	}

	delete(identity: string): void {
		this.identities.delete(identity);
	}

	clear(): void {
		this.identities.clear();
	}
}
