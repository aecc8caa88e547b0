import * as fc from 'fast-check';

import * as connection from '../../../nodes/CrmPlatform/api/connection';
import { randomRuns } from '../../support/random-runs.ts';
import type { WebhookStep } from './webhook-model/webhook-histories.ts';
import { webhookHistories } from './webhook-model/webhook-histories.ts';
import { brokenWebhookPromises, newWebhookWorld } from './webhook-model/play-webhook-history.ts';

jest.mock('../../../nodes/CrmPlatform/api/connection');
afterEach(() => void jest.restoreAllMocks());

function newWorld() {
	const world = newWebhookWorld();
	jest.spyOn(Date, 'now').mockImplementation(world.clock.now);
	jest.mocked(connection.connect).mockResolvedValue(world.service.api);
	return world;
}

const play = async (history: WebhookStep[]): Promise<string[]> => await brokenWebhookPromises(newWorld(), history);

test('an event that was accepted does not start again because the CRM sends it once more while n8n is off', async () => {
	const [minute, start] = [60_000, { address: 'a', starts: 0 }];
	expect(await play([
		{ does: 'late', ms: 4 * minute }, { does: 'happen' }, { does: 'kill', down: 0, ...start }, { does: 'wait', ms: 6_000 },
		{ does: 'kill', down: 5 * minute, ...start },
	])).toEqual([]);
});

test('an event starts the workflow although a CRM that was reset has given its ID before', async () => {
	const { clock, n8n, service } = newWorld();
	await n8n.publish();
	for (let resets = 0; resets < 2; resets++) {
		service.events.splice(0);
		service.happen();
		await clock.advance(60_000);
	}
	await n8n.kill();
	expect(n8n.started.map(({ id }) => id)).toEqual(['evt_1', 'evt_1']);
});

test('in every history, no event is lost without a report, and none starts twice, except as docs/reference/triggers.md says', async () => {
	await fc.assert(
		fc.asyncProperty(webhookHistories, async (history) => {
			expect(await play(history)).toEqual([]);
		}),
		randomRuns(2_000),
	);
}, 24 * 60 * 60_000);
