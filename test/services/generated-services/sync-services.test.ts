import * as fc from 'fast-check';

import { randomRuns } from '../../support/random-runs.ts';
import { brokenSyncPromises, syncHistories } from './sync-histories.ts';
import { useSyncServices } from './sync-service.ts';

const runs = randomRuns(300, 2026);

const openService = useSyncServices();

test('whatever the CRM and whoever edits, no value is erased, and no record is duplicated, overwritten or deleted by mistake', async () => {
	await fc.assert(
		fc.asyncProperty(syncHistories, async (history) => {
			const broken = await brokenSyncPromises(openService, history);
			if (broken.length > 0) throw new Error(broken.join('\n'));
		}),
		runs,
	);
}, 300_000 + runs.numRuns * 500);
