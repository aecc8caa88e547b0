/** Maximum number of open groups, all of which n8n stores each time. */
const maxOpen = 500;

/** Events or records read ahead, so that one is ready when an execution ends. */
const maxAhead = 50;

/** Decides how much to read ahead. */
export class ReadAhead {
	private isFull = false;

	/** @returns how many groups may be opened: none or many, as each reading begins `overlap` events earlier */
	room(open: number, startable: number, groupSize: number, warn: (message: string) => void): number {
		const left = maxOpen - open;
		if (left <= 0 && !this.isFull) warn(full);
		this.isFull = left <= 0;
		const maxGroups = Math.max(2, Math.floor(maxAhead / groupSize));
		return this.isFull || startable > maxGroups / 2 ? 0 : Math.min(maxGroups - startable, left);
	}
}

const full = `${maxOpen} executions are queued or wait for another attempt, so no more events are read until some of them finish. The CRM keeps the events.`;
