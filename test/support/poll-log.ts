import type { TestSandbox } from './sandbox.ts';

/** Writes that add events to the log of a sandbox. */
export function eventsIn(sandbox: TestSandbox) {
	let created = 0;
	return {
		/** Creates contacts, at most 100. @returns the IDs of their events */
		async contacts(howMany: number): Promise<string[]> {
			const items = Array.from({ length: howMany }, () => ({ email: `poll${(created += 1)}@x.example` }));
			await sandbox.call('POST', '/v1/contacts/batch/create', { items });
			const events = await sandbox.list(`events?sort=-sequence&limit=${howMany}`);
			return events.map(({ id }) => id).reverse();
		},
	};
}
