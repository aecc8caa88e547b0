import type { TestSandbox } from './sandbox.ts';

export interface LoggedEvent {
	id: string;
	sequence: number;
	type: string;
	timestamp: string;
}

/** The event log of a sandbox, and writes that add events to it. */
export function eventsIn(sandbox: TestSandbox) {
	let created = 0;

	/** The latest events of the log, in sequence. */
	const latest = async (howMany: number): Promise<LoggedEvent[]> => {
		const events: LoggedEvent[] = [];
		for (let cursor = ''; events.length < howMany;) {
			const limit = Math.min(howMany - events.length, 500);
			const path = `events?sort=-sequence&limit=${limit}${cursor}`;
			const { data, next_cursor: next } = await sandbox.read(path);
			events.push(...(data as LoggedEvent[]));
			if (!next) break;
			cursor = `&cursor=${String(next)}`;
		}
		return events.reverse();
	};

	return {
		latest,

		/** Creates contacts. @returns the IDs of their events */
		async contacts(howMany: number): Promise<string[]> {
			for (let left = howMany; left > 0; left -= 100) {
				const items = Array.from({ length: Math.min(left, 100) }, () => ({
					email: `poll${(created += 1)}@x.example`,
				}));
				await sandbox.call('POST', '/v1/contacts/batch/create', { items });
			}
			return (await latest(howMany)).map(({ id }) => id);
		},

		advance: sandbox.advance,

		/** The service's time (Unix epoch ms). */
		async now(): Promise<number> {
			return Date.parse(String((await sandbox.call('GET', '/_sandbox/clock')).body.now));
		},
	};
}
