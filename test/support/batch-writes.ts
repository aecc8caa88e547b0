import { nodeRuns } from './node-runs.ts';
import { useSandbox } from './sandbox.ts';

/** Items for contacts whose email addresses no other test uses. */
export const peopleByEmail = (name: string, count: number) =>
	Array.from({ length: count }, (_, i) => ({ email: `${name}-${i}@batches.example` }));

/** A sandbox to which the node writes in batches. */
export function useBatchWrites() {
	const sandbox = useSandbox();
	return {
		sandbox,
		run: nodeRuns(sandbox).run,
		/** The number of contacts with this name in an email address or elsewhere. */
		found: async (name: string) => (await sandbox.read(`contacts?q=${name}&limit=500`)).total,
		writes: sandbox.writes,
	};
}
