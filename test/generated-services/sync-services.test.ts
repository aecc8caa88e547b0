import * as fc from 'fast-check';

import { randomRuns } from '../random-runs.ts';
import { brokenBy, syncHistories } from './sync-histories.ts';
import { startSyncServices } from './sync-service.ts';

const runs = randomRuns(300, 2026);

let services: Awaited<ReturnType<typeof startSyncServices>>;
beforeAll(async () => void (services = await startSyncServices()));
afterAll(async () => await services.close());

test('whatever the CRM and whoever edits at the same time, no record is erased, duplicated, overwritten or deleted by mistake', async () => {
	await fc.assert(
		fc.asyncProperty(syncHistories, async (history) => {
			const broken = await brokenBy(services, history);
			if (broken.length > 0) throw new Error(broken.join('\n'));
		}),
		runs,
	);
}, 300_000 + runs.numRuns * 500);
