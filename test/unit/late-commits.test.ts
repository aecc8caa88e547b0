import { forgetDispatchers } from '../../nodes/CrmPlatform/trigger/poll/published';
import { pollWorld } from './poll-model/poll-world.ts';

afterEach(forgetDispatchers);

const interval = 15_000;

test.each(['goes on', 'is restarted meanwhile'])('an event that appears 199 below a read one starts once (n8n %s)', async (fate) => {
	const { clock, service, n8n, happen, choose, publish, started } = await pollWorld();
	for (let sequence = 2; sequence < 1_000; sequence++) service.happen('c.z', 'r0');
	await publish(choose());
	// Just before the trigger looks again.
	await clock.advance(interval - (clock.now() % interval) - 1_000);
	service.happen('a.x', 'late', 8_000);
	const others = Array.from({ length: 199 }, (_, i) => `r${i}`);
	happen(...others);
	await clock.advance(5_000);
	const idsOf = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => `e${first + i}`);
	expect(started()).toEqual(idsOf(1_001, 1_199));
	if (fate === 'is restarted meanwhile') {
		await n8n.kill();
		await n8n.start();
	}
	await clock.advance(300_000);
	expect(started()).toEqual([...idsOf(1_001, 1_199), 'e1000']);
});
