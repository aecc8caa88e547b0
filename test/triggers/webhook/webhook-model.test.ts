import * as fc from 'fast-check';

import * as connection from '../../../nodes/CrmPlatform/api/connection';
import { randomRuns } from '../../support/random-runs.ts';
import type { WebhookStep } from './webhook-model/webhook-histories.ts';
import { webhookHistories } from './webhook-model/webhook-histories.ts';
import { brokenWebhookPromises, newWebhookWorld } from './webhook-model/play-webhook-history.ts';

const [minute, hour] = [60_000, 3_600_000];

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
	const start = { address: 'a', starts: 0 };
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

/** Kills n8n and starts it again. */
async function restart({ clock, n8n }: ReturnType<typeof newWorld>): Promise<void> {
	await n8n.kill();
	await n8n.start('a', 0);
	await clock.advance(30 * minute);
}

/** What is said of missing events. */
const alarms = ({ n8n }: ReturnType<typeof newWorld>) => n8n.reports.filter(({ message }) => message.includes('may be missing'));

test.each(['unsent', 'unreadable'] as const)('an undeliverable event (%s) is reported once, and holds up nothing', async (problem) => {
	const world = newWorld();
	const { clock, n8n, service } = world;
	await n8n.publish();
	service.happen(problem);
	for (let hours = 0; hours < 30; hours++) {
		service.happen();
		await clock.advance(hour);
	}
	expect(alarms(world)).toHaveLength(1);
	await restart(world);
	await clock.advance(30 * hour);
	await restart(world);
	expect(alarms(world)).toHaveLength(1);
	// The CRM would send again what happened since the last event that is known to be delivered.
	await n8n.publish();
	await clock.advance(30 * minute);
	await n8n.kill();
	expect(n8n.started.filter(({ id }) => id !== 'evt_1')).toHaveLength(30);
});

test('a CRM without a list of deliveries is named in the log, once, and no gap is reported', async () => {
	const world = newWorld();
	const { clock, n8n, service } = world;
	service.isUnlisted = true;
	await n8n.publish();
	await clock.advance(30 * hour);
	await restart(world);
	await clock.advance(30 * minute);
	await n8n.kill();
	expect(alarms(world)).toEqual([]);
	// Once in each process.
	expect(n8n.reports.filter(({ message }) => message.includes('does not list the deliveries'))).toHaveLength(2);
});

test('events lost in a long outage are reported once', async () => {
	const world = newWorld();
	const { clock, n8n, service } = world;
	await n8n.publish();
	await n8n.kill();
	for (let hours = 0; hours < 50; hours++) {
		service.happen();
		await clock.advance(hour);
	}
	await n8n.start('a', 0);
	for (let days = 0; days < 3; days++) {
		await clock.advance(30 * hour);
		expect(alarms(world)).toHaveLength(1);
		await restart(world);
	}
	await n8n.kill();
	expect(alarms(world)).toHaveLength(1);
});

test('in every history, no event is lost without a report, and none starts twice, except as docs/reference/triggers.md says', async () => {
	await fc.assert(
		fc.asyncProperty(webhookHistories, async (history) => {
			expect(await play(history)).toEqual([]);
		}),
		randomRuns(1_000),
	);
}, 24 * 60 * 60_000);
