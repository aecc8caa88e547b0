import { eventsIn } from './poll-log.ts';
import { usePublished } from './published.ts';
import { useSandbox } from './sandbox.ts';
import { until } from './trigger.ts';

const sandbox = useSandbox({ contacts: 0 });
const log = eventsIn(sandbox);
const { publish } = usePublished(sandbox);

const moveOn = ['started', 'ended', 'succeeded'];

test.each(moveOn)('whenever n8n is killed, each event is started once for each attempt (%s)', async (when) => {
	// A small generator with a seed, so that a failure can be repeated.
	let seed = 7;
	const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
	const pause = async () => await new Promise((resolve) => setTimeout(resolve, random() * 3));
	const execute = async () => {
		await pause();
		return 'success' as const;
	};
	const n8n = await publish({ moveOn: when, attempts: 20, options: { atOnce: 4 } }, { execute });
	const ids: string[] = [];
	for (let round = 0; round < 6; round++) {
		ids.push(...(await log.contacts(10)));
		const target = n8n.executions.length + Math.floor(random() * 10);
		await until(() => n8n.executions.length >= target || n8n.ids().length + n8n.ids('crashed').length >= ids.length);
		n8n.kill();
		await n8n.activate();
	}
	const came = () => new Set(when === 'succeeded' ? n8n.ids() : [...n8n.ids(), ...n8n.ids('crashed')]);
	await until(() => came().size >= ids.length);
	await n8n.deactivate();
	const keys = n8n.executions.map(({ key }) => key);
	expect(new Set(keys).size).toBe(keys.length);
	expect([...came()].sort()).toEqual([...ids].sort());
	// With Succeeded, n8n does not tell how an execution ended that it was killed in.
	if (when !== 'succeeded') expect(n8n.executions).toHaveLength(ids.length);
}, 30_000);
