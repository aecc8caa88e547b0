import { fuzzCursors } from './cursors.ts';
import { oauthDrafts } from './oauth.ts';
import type { FuzzRuns } from './requests.ts';
import { fuzz, fuzzOperation, operations } from './fuzz.ts';
import { openFuzzedSandbox, type FuzzedSandbox } from './fuzzed-sandbox.ts';

/** Tests of everything the service can be asked, a fresh sandbox for each kind of record. */
export function testPromises(effort: FuzzRuns): void {
	const kindOf = (path: string) => path.split('/').slice(0, 3).join('/');
	const kinds = new Set(operations.map(({ path }) => kindOf(path)));

	describe.each([...kinds, '/oauth'])('%s', (kind) => {
		let target: FuzzedSandbox;
		beforeAll(async () => {
			target = await openFuzzedSandbox();
		});
		afterAll(() => target.close());

		const kindOperations = operations.filter(({ path }) => kindOf(path) === kind);
		for (const operation of kindOperations) {
			test(`${operation.name} keeps its promises, whatever the request`, async () => {
				await fuzzOperation(target, operation, effort);
			}, 600_000);
		}
		for (const list of kindOperations.filter(({ parameters }) => parameters.some(({ name }) => name === 'sort'))) {
			test(`${list.name} handles a forged cursor`, async () => {
				await fuzzCursors(target, list, effort);
			}, 600_000);
		}
		if (kind === '/oauth') {
			test('clients get the responses of RFC 6749, whatever they send', async () => {
				await fuzz(target, oauthDrafts, { ...effort, runs: 10 * effort.runs });
			}, 600_000);
		}
	});
}
