import { run as runNode, type Run, type Setup } from './node-runs.ts';
import { useSandbox } from './sandbox.ts';

/** Items of people nobody else has. */
export const peopleByEmail = (name: string, count: number) =>
	Array.from({ length: count }, (_, i) => ({ email: `${name}-${i}@batches.example` }));

/** A sandbox that is written to in batches, and what came of it. */
export function useBatchWrites() {
	const sandbox = useSandbox();
	return {
		sandbox,
		run: async (setup: Omit<Setup, 'credential'>): Promise<Run> =>
			await runNode({ credential: sandbox.credential, ...setup }),
		/** How many of those people there are. */
		found: async (name: string) =>
			(await sandbox.call('GET', `/v1/contacts?q=${name}&limit=500`)).body.total,
		/** The requests that were to change something. */
		writes: async () =>
			(await sandbox.requests()).filter(
				({ method, path }) => method !== 'GET' && path !== '/openapi.json',
			),
	};
}
