import { fuzzCursors } from './cursors.ts';
import { oauthDrafts } from './oauth.ts';
import type { FuzzRuns } from './requests.ts';
import { fuzz, fuzzOperation, operations } from './fuzz.ts';
import { openFuzzedSandbox, type FuzzedSandbox } from './fuzzed-sandbox.ts';

/** Tests of everything the service can be asked, a fresh sandbox for each collection. */
export function testPromises(effort: FuzzRuns): void {
	const collectionOf = (path: string) => path.split('/').slice(0, 3).join('/');
	const collections = new Set(operations.map(({ path }) => collectionOf(path)));

	describe.each([...collections, '/oauth'])('%s', (collection) => {
		let target: FuzzedSandbox;
		beforeAll(async () => {
			target = await openFuzzedSandbox();
		});
		afterAll(() => target.close());

		const operationsOfCollection = operations.filter(({ path }) => collectionOf(path) === collection);
		for (const operation of operationsOfCollection) {
			test(`${operation.name} keeps its promises, whatever the request`, async () => {
				await fuzzOperation(target, operation, effort);
			}, 600_000);
		}
		for (const list of operationsOfCollection.filter(({ parameters }) => parameters.some(({ name }) => name === 'sort'))) {
			test(`${list.name} handles a forged cursor`, async () => {
				await fuzzCursors(target, list, effort);
			}, 600_000);
		}
		if (collection === '/oauth') {
			test('clients get the responses of RFC 6749, whatever they send', async () => {
				await fuzz(target, oauthDrafts, { ...effort, runs: 10 * effort.runs });
			}, 600_000);
		}
	});
}
