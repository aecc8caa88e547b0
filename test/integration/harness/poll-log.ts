import type { TestSandbox } from './sandbox.ts';

export interface LoggedEvent {
	id: string;
	sequence: number;
	type: string;
	timestamp: string;
}

/** What the tests of the Poll Trigger do in the service, beside the trigger. */
export function eventsIn(sandbox: TestSandbox) {
	let created = 0;

	/** The latest events of the log, in sequence. */
	const latest = async (howMany: number): Promise<LoggedEvent[]> => {
		const events: LoggedEvent[] = [];
		for (let cursor = ''; events.length < howMany;) {
			const limit = Math.min(howMany - events.length, 500);
			const path = `/v1/events?sort=-sequence&limit=${limit}${cursor}`;
			const { data, next_cursor: next } = (await sandbox.call('GET', path)).body;
			events.push(...(data as LoggedEvent[]));
			if (!next) break;
			cursor = `&cursor=${String(next)}`;
		}
		return events.reverse();
	};

	return {
		latest,

		/** Creates contacts, each of which is an event, and gives the ids of the events. */
		async contacts(howMany: number): Promise<string[]> {
			for (let left = howMany; left > 0; left -= 100) {
				const items = Array.from({ length: Math.min(left, 100) }, () => ({
					email: `poll${(created += 1)}@x.example`,
				}));
				await sandbox.call('POST', '/v1/contacts/batch/create', { items });
			}
			return (await latest(howMany)).map(({ id }) => id);
		},

		/** Moves the service's clock. */
		async advance(seconds: number): Promise<void> {
			await sandbox.call('POST', '/_sandbox/clock', { advance: seconds });
		},

		/** The service's time (Unix epoch ms). */
		async now(): Promise<number> {
			return Date.parse(String((await sandbox.call('GET', '/_sandbox/clock')).body.now));
		},
	};
}
