import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from './node-runs.ts';
import { useSandbox } from './sandbox.ts';

/** Items for contacts whose email addresses no other test uses. */
export const peopleByEmail = (name: string, count: number) =>
	Array.from({ length: count }, (_, i) => ({ email: `${name}-${i}@batches.example` }));

/** Faults of a write's first attempt after which the node repeats it. */
export const transientFaults: Array<[name: string, fault: IDataObject]> = [
	['500', { status: 500 }],
	['503 with Retry-After', { status: 503, headers: { 'retry-after': '0' } }],
	['429 with Retry-After', { status: 429, headers: { 'retry-after': '0' } }],
	['a connection dropped before the effect', { drop: 'before' }],
	['a connection dropped after the effect', { drop: 'after' }],
	['a web page of a gateway', { status: 502, body: '<html></html>', contentType: 'text/html' }],
	['malformed JSON after the effect', { malformed: true }],
];

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
