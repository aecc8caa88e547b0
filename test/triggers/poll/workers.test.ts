import type { IDataObject } from 'n8n-workflow';

import { eventsIn } from '../../support/poll-log.ts';
import { usePublished, type Execution } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const log = eventsIn(sandbox);
const { publish } = usePublished(sandbox);

const ofWorkers = { onlyAnswers: true };

test('a worker that ends before n8n listens for it does not hold up later events', async () => {
	const n8n = await publish({ doneWhen: 'ended' }, ofWorkers);
	const ids = await log.contacts(3);
	await until(() => n8n.ids().length >= 3);
	expect(n8n.ids()).toEqual(ids);
});

test('a start that failed on such a worker is repeated, and one that succeeded is not', async () => {
	const execute = async (_items: IDataObject[], { key }: Execution) => (key?.endsWith(':1') ? 'error' : 'success');
	const n8n = await publish({ doneWhen: 'succeeded', attempts: 3 }, { ...ofWorkers, execute });
	const ids = await log.contacts(2);
	await until(() => n8n.ids().length >= 2);
	await log.contacts(1);
	await until(() => n8n.ids().length >= 3);
	expect(n8n.ids().slice(0, 2).sort()).toEqual(ids.sort());
	expect(n8n.ids('error')).toHaveLength(3);
});
