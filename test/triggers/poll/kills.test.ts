import { randomOf } from '../../support/random-runs.ts';
import { eventsIn } from '../../support/poll-log.ts';
import { usePublished } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const log = eventsIn(sandbox);
const { publish } = usePublished(sandbox);

const choices = [
	['started', ''],
	['ended', ''],
	['succeeded', 'startAgain'],
	['succeeded', 'setAside'],
];

test.each(choices)('whenever n8n is killed, each event starts once per attempt (%s %s)', async (when, afterCrash) => {
	const random = randomOf(7);
	const pause = async () => await new Promise((resolve) => setTimeout(resolve, random() * 3));
	const execute = async () => {
		await pause();
		return 'success' as const;
	};
	const n8n = await publish({ doneWhen: when, attempts: 10_000, options: { atOnce: 4, afterCrash } }, { execute });
	const ids: string[] = [];
	for (let round = 0; round < 6; round++) {
		ids.push(...(await log.contacts(10)));
		const target = n8n.executions.length + Math.floor(random() * 10);
		await until(() => n8n.executions.length >= target || n8n.ids().length + n8n.ids('crashed').length >= ids.length);
		n8n.kill();
		await n8n.activate();
	}
	const startsAgain = afterCrash === 'startAgain';
	const came = () => new Set(startsAgain ? n8n.ids() : [...n8n.ids(), ...n8n.ids('crashed')]);
	await until(() => came().size >= ids.length);
	const isReported = (id: string) => n8n.reported.join().includes(`The event ${id} was set aside: n8n stopped`);
	if (afterCrash === 'setAside') await until(() => n8n.ids('crashed').every(isReported));
	await n8n.deactivate();
	const keys = n8n.executions.map(({ key }) => key);
	expect(new Set(keys).size).toBe(keys.length);
	expect([...came()].sort()).toEqual([...ids].sort());
	// n8n does not report the end of an execution during which it was killed.
	if (!startsAgain) expect(n8n.executions).toHaveLength(ids.length);
	if (afterCrash !== 'setAside') expect(n8n.reported).toEqual([]);
});
