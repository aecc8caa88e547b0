/** Maximum number of open groups: n8n stores all of them each time. */
const maxOpen = 500;

/** Number of events or records to read ahead, so that the next one is ready when an execution ends. */
const maxAhead = 50;

/** Decides how much to read ahead. */
export class ReadAhead {
	private isFull = false;

	/** @returns how many groups may be opened: none or many, as each reading costs a request */
	room(open: number, startable: number, groupSize: number, warn: (message: string) => void): number {
		const left = maxOpen - open;
		if (left <= 0 && !this.isFull) warn(full);
		this.isFull = left <= 0;
		const maxGroups = Math.max(2, Math.floor(maxAhead / groupSize));
		return this.isFull || startable > maxGroups / 2 ? 0 : Math.min(maxGroups - startable, left);
	}
}

const full = `${maxOpen} executions are queued or wait for another attempt, so no more events are read until some of them finish. The CRM keeps the events.`;
