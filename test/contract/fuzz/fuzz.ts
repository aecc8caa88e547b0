import * as fc from 'fast-check';
import { document } from '../../sandbox/harness/contract.ts';
import { type Draft, drafts, type FuzzRuns, type FuzzedOperation, operationsOf } from './requests.ts';
import type { FuzzedSandbox } from './fuzzed-sandbox.ts';

/** Every operation that the service describes. */
export const operations = operationsOf(document);

/**
 * Sends random requests and looks at every answer.
 *
 * @throws Error with the smallest request found that is not answered as promised, and the seed
 * @returns how many answers there were of each status
 */
export async function fuzz(
	target: FuzzedSandbox,
	requests: fc.Arbitrary<Draft>,
	{ runs, seed }: FuzzRuns,
): Promise<Map<number, number>> {
	const statuses = new Map<number, number>();
	const property = fc.asyncProperty(requests, async (draft) => {
		const { broken, answer } = await target.send(draft);
		statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
		if (broken.length === 0) return;
		throw new Error(`${broken.join('; ')}\n${answer.status} ${answer.text.slice(0, 2000)}`);
	});
	await fc.assert(property, { numRuns: runs, seed });
	return statuses;
}

/** Fuzzes one operation of the service. */
export const fuzzOperation = (target: FuzzedSandbox, operation: FuzzedOperation, effort: FuzzRuns) =>
	fuzz(target, drafts(document, operation), effort);
