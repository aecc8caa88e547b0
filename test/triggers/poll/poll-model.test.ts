import * as fc from 'fast-check';

import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import { randomRuns } from '../../support/random-runs.ts';
import { pollHistories } from './poll-model/poll-histories.ts';
import { playPollHistory } from './poll-model/play-poll-history.ts';
import { brokenPollPromises } from './poll-model/poll-promises.ts';

afterEach(clearProcessMemory);

test('in every history, no chosen event is lost without a report and none is started twice', async () => {
	await fc.assert(
		fc.asyncProperty(pollHistories, async (history) => {
			expect(brokenPollPromises(await playPollHistory(history))).toEqual([]);
		}),
		randomRuns(2_000),
	);
}, 24 * 60 * 60_000);
