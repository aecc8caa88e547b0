import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';

import { eventsIn } from '../../support/poll-log.ts';
import { usePublished, type Published } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const log = eventsIn(sandbox);
const { publish } = usePublished(sandbox);

/** Publishes again with other settings, in this process or a new one. */
async function again(n8n: Published, parameters: IDataObject, isRestarted: boolean): Promise<void> {
	await n8n.deactivate();
	if (isRestarted) n8n.kill();
	n8n.setup.parameters = { ...n8n.setup.parameters, ...parameters };
	await n8n.activate();
}

test.each([true, false])('a new Mark as Done When, Attempts or group size loses and repeats none (restarted: %s)', async (isRestarted) => {
	let isFailing = true;
	const execute = async () => (isFailing ? ('error' as const) : ('success' as const));
	const n8n = await publish({ doneWhen: 'succeeded', attempts: 10_000 }, { execute });
	const ids = await log.contacts(6);
	await until(() => n8n.executions.length >= 6);
	await n8n.deactivate();
	// With The Execution Ends, a failure that a kill keeps from being stored counts as an end.
	await until(() => n8n.underWay === 0);
	isFailing = false;
	await again(n8n, { doneWhen: 'ended', attempts: 1, grouping: 'group', groupSize: 3 }, isRestarted);
	ids.push(...(await log.contacts(4)));
	await until(() => n8n.ids().length >= 10);
	await again(n8n, { doneWhen: 'succeeded', grouping: 'each' }, isRestarted);
	ids.push(...(await log.contacts(1)));
	await until(() => n8n.ids().length >= 11);
	expect(n8n.ids().sort()).toEqual([...ids].sort());
	expect(n8n.reported).toEqual([]);
});

test('records that are open when Events are chosen are set aside and reported once, and events continue', async () => {
	await log.contacts(3);
	const execute = async ([item]: IDataObject[]) => (item?.change === 'existing' ? ('error' as const) : ('success' as const));
	const copy = { source: 'records', resource: 'contact', simplify: false };
	const n8n = await publish({ ...copy, doneWhen: 'succeeded', attempts: 10_000 }, { execute });
	await until(() => n8n.executions.length >= 3);
	await again(n8n, { source: 'events' }, true);
	const ids = await log.contacts(2);
	await until(() => n8n.ids().length >= 2);
	expect(n8n.ids()).toEqual(ids);
	expect(n8n.reported).toEqual([
		expect.stringMatching(/^\d+ pending records were set aside because the trigger now starts from another point$/),
	]);
});

test('another time zone restarts nothing and loses nothing', async () => {
	const since = DateTime.now().setZone('America/Sao_Paulo').minus({ minutes: 1 }).toFormat("yyyy-MM-dd'T'HH:mm:ss");
	const n8n = await publish({ start: 'date', since });
	const eventIds = await log.contacts(3);
	// The tests before may have left events of the same minute, whose executions may begin at any time.
	const started = () => n8n.ids().filter((id) => eventIds.includes(id));
	await until(() => started().length >= eventIds.length);
	for (const timezone of ['Asia/Tokyo', 'Pacific/Honolulu']) {
		n8n.timezone = timezone;
		await again(n8n, {}, timezone === 'Asia/Tokyo');
		eventIds.push(...(await log.contacts(1)));
		await until(() => started().length >= eventIds.length);
	}
	expect(started()).toEqual(eventIds);
	expect(n8n.reported).toEqual([]);
});
