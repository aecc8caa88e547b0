import * as fc from 'fast-check';

import { brokenBy, histories } from './sync-histories.ts';
import { startSyncServices } from './sync-service.ts';

/** `SYNC_RUNS=5000 SYNC_SEED=7 npx jest test/odd-service/sync-services` looks further. */
const runs = Number(process.env.SYNC_RUNS ?? 300);
const seed = Number(process.env.SYNC_SEED ?? 2026);

let services: Awaited<ReturnType<typeof startSyncServices>>;
beforeAll(async () => void (services = await startSyncServices()));
afterAll(async () => await services.close());

test('whatever the service, and whoever edits meanwhile: no record is erased, doubled, overwritten or deleted by mistake', async () => {
	await fc.assert(
		fc.asyncProperty(histories, async (history) => {
			const broken = await brokenBy(services, history);
			if (broken.length > 0) throw new Error(broken.join('\n'));
		}),
		{ numRuns: runs, seed },
	);
}, 60_000 + runs * 500);
