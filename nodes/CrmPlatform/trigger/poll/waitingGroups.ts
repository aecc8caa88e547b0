/** The groups that wait for their next start or reading. This process forgets them when it ends. */
export class WaitingGroups {
	/** How often the items of a group could not be read, by the name of the group. */
	readonly failedReadings = new Map<string, number>();
	/** When a group may be started next (Unix epoch ms), by the name of the group. */
	private readonly dueTimes = new Map<string, number>();
	/** Names of waiting groups that were reported to the user. */
	private readonly reportedGroups = new Set<string>();
	private isOutageReported = false;

	isDue(name: string, now: number): boolean {
		return (this.dueTimes.get(name) ?? 0) <= now;
	}

	/** When the next group is due, later than this instant (Unix epoch ms); Infinity if none waits. */
	nextDue(after: number): number {
		// A group that is due and was not started waits for the end of another execution.
		return Math.min(...[...this.dueTimes.values()].filter((time) => time > after));
	}

	postpone(name: string, until: number): void {
		this.dueTimes.set(name, until);
	}

	postponeReading(name: string, failedReadings: number, until: number): void {
		this.failedReadings.set(name, failedReadings);
		this.postpone(name, until);
	}

	/** Notes that a reading of the group has ended. */
	endWait(name: string, isRead: boolean): void {
		this.dueTimes.delete(name);
		if (isRead) this.isOutageReported = false;
	}

	/** @returns whether to report that the group waits: once, as all groups may wait for the same reason */
	reportOnce(name: string): boolean {
		if (this.isOutageReported || this.reportedGroups.has(name)) return false;
		this.isOutageReported = true;
		this.reportedGroups.add(name);
		return true;
	}

	remove(name: string): void {
		this.dueTimes.delete(name);
		this.failedReadings.delete(name);
		this.reportedGroups.delete(name);
	}
}
