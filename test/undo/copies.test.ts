import { idempotencyKey } from '../../nodes/CrmPlatform/api/http/idempotency';
import { alteredService } from '../support/altered-service.ts';
import { executeContext } from '../support/node-runs.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { undoing } from '../support/undo-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const { as, undo, add, record } = undoing(sandbox);
const service = alteredService(sandbox);

test('if two undos at once create a record again, this undo and the next name the other one, and keep both', async () => {
	const { id: deleted } = await add('contacts', { last_name: 'Twice' });
	await as('copies', op.deleteRecord('contact', deleted));
	const { data: [deletion] } = await sandbox.read('events?type=contact.deleted&limit=1') as { data: Array<{ id: string }> };
	const instance = executeContext({ credential: sandbox.credential, parameters: {} }).context.getInstanceId();
	const key = idempotencyKey({ instance, workflow: 'w', execution: 'o', node: 'n', runKey: 0, keyNumbers: [0], keySubject: deletion!.id });
	let first = '';
	service.alter({
		request: async ({ method }) => {
			if (method !== 'POST' || first !== '') return;
			const { body } = await sandbox.call('POST', '/v1/contacts', { last_name: 'Twice' }, { 'idempotency-key': key });
			first = String(body.id);
		},
	});
	const { items: [item] } = await undoing(service).undo('copies');
	const second = String(item!.new_id);
	expect(item).toMatchObject({ result: 'conflict', action: 'create', reason: `Another undo created it too, as ${first}. Merge the two.` });
	expect((await undo('copies')).items).toMatchObject([
		{ result: 'conflict', new_id: first, reason: expect.stringContaining(`Another undo created it too, as ${second}. Merge the two.`) },
	]);
	expect([await record('contacts', first), await record('contacts', second)]).toEqual([expect.anything(), expect.anything()]);

	const { id: deal } = await add('deals', { title: 'With the copy' });
	await as('linked', op.update('deal', deal, { contact_id: second }));
	expect((await undo('linked')).items).toMatchObject([{ result: 'undone' }]);
});
