import type { Position } from '../../../nodes/CrmPlatform/trigger/poll/position';
import { forgetDispatchers } from '../../../nodes/CrmPlatform/trigger/poll/published';
import { pollWorld } from './poll-model/poll-world.ts';

afterEach(forgetDispatchers);

type StaticData = { global: Record<string, { takeover: number; revision: number; state: Position }> };

test('an older position in the store does not replace that of the process', async () => {
	const { clock, n8n, happen, choose, publish, started } = await pollWorld();
	await publish(choose());
	const older = n8n.staticData;
	happen('r0');
	await clock.advance(60_000);
	n8n.staticData = older;
	// Nothing but the position tells that the event has started an execution.
	n8n.rows.clear();
	await publish(choose());
	expect(started()).toEqual(['e2']);
});

test('a newer position in the store, of another process, replaces that of the process', async () => {
	const { clock, n8n, happen, choose, publish, started } = await pollWorld();
	await publish(choose());
	happen('r0');
	await clock.advance(60_000);
	const stored = JSON.parse(n8n.staticData) as StaticData;
	const [entry] = Object.values(stored.global);
	entry!.revision += 1;
	// The position as another process leaves it after reading the next event.
	Object.assign(entry!.state, { sequence: entry!.state.sequence + 1 });
	n8n.staticData = JSON.stringify(stored);
	happen('r1', 'r2');
	await publish(choose());
	expect(started()).toEqual(['e2', 'e4']);
});

test('a position that a process stores late, after another one has taken over, replaces nothing', async () => {
	const { clock, n8n, happen, choose, publish, started } = await pollWorld();
	await publish(choose());
	happen('r0');
	await clock.advance(60_000);
	const late = JSON.parse(n8n.staticData) as StaticData;
	await publish(choose());
	happen('r1', 'r2');
	await clock.advance(60_000);
	const [newest] = Object.values((JSON.parse(n8n.staticData) as StaticData).global);
	Object.values(late.global)[0]!.revision = newest!.revision + 1_000;
	n8n.staticData = JSON.stringify(late);
	n8n.rows.clear();
	await publish(choose());
	await clock.advance(600_000);
	expect(started()).toEqual(['e2', 'e3', 'e4']);
});
