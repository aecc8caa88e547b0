/** Maximum number of open groups: n8n stores all of them each time, so no more are read beyond it. */
const maxOpen = 500;

/** Events or records that are read ahead, so that there is one when an execution ends. */
const maxAhead = 50;

/** Says how much to read before it can be started. */
export class ReadAhead {
	private isFull = false;

	/** @returns how many groups may be opened: none or many, as each reading begins `overlap` events earlier */
	room(open: number, startable: number, groupSize: number, warn: (message: string) => void): number {
		const left = maxOpen - open;
		if (left <= 0 && !this.isFull) warn(full);
		this.isFull = left <= 0;
		const most = Math.max(2, Math.floor(maxAhead / groupSize));
		return this.isFull || startable > most / 2 ? 0 : Math.min(most - startable, left);
	}
}

const full = `${maxOpen} executions wait for their turn or another attempt, so no more events are read until some of them are done. The service keeps the events.`;
