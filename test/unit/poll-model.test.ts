import * as fc from 'fast-check';

import { forgetDispatchers } from '../../nodes/CrmPlatform/trigger/changes/published';
import { randomRuns } from '../random-runs.ts';
import { histories } from './poll-model/histories.ts';
import { play } from './poll-model/play.ts';
import { brokenPromises } from './poll-model/promises.ts';

afterEach(forgetDispatchers);

test('in every history, no chosen event is lost untold and none is started twice', async () => {
	await fc.assert(
		fc.asyncProperty(histories, async (history) => {
			expect(brokenPromises(await play(history))).toEqual([]);
		}),
		randomRuns(2_000),
	);
}, 24 * 60 * 60_000);
