import * as fc from 'fast-check';

import * as connection from '../../nodes/CrmPlatform/api/connection';
import { randomRuns } from '../random-runs.ts';
import type { Deed } from './webhook-model/histories.ts';
import { histories } from './webhook-model/histories.ts';
import { brokenPromises, newWorld } from './webhook-model/play.ts';

jest.mock('../../nodes/CrmPlatform/api/connection');
afterEach(() => void jest.restoreAllMocks());

async function live(history: Deed[]): Promise<string[]> {
	const world = newWorld();
	jest.spyOn(Date, 'now').mockImplementation(world.clock.now);
	jest.mocked(connection.connect).mockResolvedValue(world.service.api);
	return await brokenPromises(world, history);
}

test('in every history, no event is lost untold, and none starts the workflow twice that the page does not admit', async () => {
	await fc.assert(
		fc.asyncProperty(histories, async (history) => {
			expect(await live(history)).toEqual([]);
		}),
		randomRuns(500),
	);
}, 24 * 60 * 60_000);
