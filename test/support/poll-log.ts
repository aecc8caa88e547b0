import type { TestSandbox } from './sandbox.ts';

/** The event log of a sandbox, and writes that add events to it. */
export function eventsIn(sandbox: TestSandbox) {
	let created = 0;
	return {
		/** Creates contacts, at most 500. @returns the IDs of their events, in sequence */
		async contacts(howMany: number): Promise<string[]> {
			for (let left = howMany; left > 0; left -= 100) {
				const items = Array.from({ length: Math.min(left, 100) }, () => ({
					email: `poll${(created += 1)}@x.example`,
				}));
				await sandbox.call('POST', '/v1/contacts/batch/create', { items });
			}
			const events = await sandbox.list(`events?sort=-sequence&limit=${howMany}`);
			return events.map(({ id }) => id).reverse();
		},

		advance: sandbox.advance,

		/** The service's time (Unix epoch ms). */
		async now(): Promise<number> {
			return Date.parse(String((await sandbox.call('GET', '/_sandbox/clock')).body.now));
		},
	};
}
