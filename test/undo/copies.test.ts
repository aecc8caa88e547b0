import type { IDataObject } from 'n8n-workflow';

import { idempotencyKey } from '../../nodes/CrmPlatform/api/http/idempotency';
import { alteredService } from '../support/altered-service.ts';
import { executeContext } from '../support/node-runs.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { undoing } from '../support/undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, undo, add, record } = undoing(sandbox);
const service = alteredService(sandbox, true);

let undos = 0;

/** Creates a record like another undo that has found the same deletion. */
async function createAgain(deleted: string, body: IDataObject): Promise<string> {
	const log = await sandbox.read('events?type=contact.deleted&limit=500');
	const { id: deletion } = (log.data as Array<{ id: string; data: { object: { id: string } } }>).find(
		({ data }) => data.object.id === deleted,
	)!;
	const instance = executeContext({ credential: sandbox.credential, parameters: {} }).context.getInstanceId();
	const key = idempotencyKey({ instance, workflow: 'w', execution: `killed-${++undos}`, node: 'n', run: 0, items: [0], deletion });
	return String((await sandbox.call('POST', '/v1/contacts', body, { 'idempotency-key': key })).body.id);
}

/** A record that two undos have created again. */
async function twoCopies(execution: string): Promise<{ deleted: string; first: string; second: string }> {
	const { id: deleted } = await add('contacts', { last_name: execution });
	await as(execution, op.deleteRecord('contact', deleted));
	const [first, second] = [await createAgain(deleted, { last_name: execution }), await createAgain(deleted, { last_name: execution })];
	return { deleted, first, second };
}

describe('if two undos have created two records in place of one,', () => {
	test('the later one is deleted, and the preview and Maximum Records include it', async () => {
		const { deleted, first, second } = await twoCopies('copies-1');
		const { items } = await undo('copies-1', { preview: true });
		expect(items).toMatchObject([
			{ id: deleted, result: 'already_so', new_id: first },
			{ id: second, result: 'to_be_undone', action: 'delete' },
		]);
		await expect(undo('copies-1', { options: { maxUndone: 0 } })).rejects.toThrow('1 records would change');
		expect((await undo('copies-1')).items.map(({ result }) => result)).toEqual(['already_so', 'undone']);
		expect([await record('contacts', first), await record('contacts', second)]).toEqual([expect.anything(), undefined]);
	});

	test.each([
		['linked to', async (id: string) => await add('deals', { title: 'Linked', contact_id: id })],
		['changed', async (id: string) => await sandbox.call('PATCH', `/v1/contacts/${id}`, { job_title: 'Hers' })],
	])('the later one stays if somebody has %s it, and both are reported', async (interference, touch) => {
		const execution = `copies-${interference}`;
		const { second } = await twoCopies(execution);
		await touch(second);
		for (const options of [{}, { undoTakesPrecedence: true }]) {
			expect((await undo(execution, { options })).items.find(({ id }) => id === second)).toMatchObject({ result: 'conflict', action: null });
			expect(await record('contacts', second)).toBeDefined();
		}
	});

	test('the later one stays while Maximum Records allows no more, and the next undo deletes it', async () => {
		const { id: deleted } = await add('contacts', { last_name: 'Beyond' });
		await as('copies-4', op.deleteRecord('contact', deleted));
		let first = '';
		service.alter({
			request: async ({ method }) => {
				if (method === 'POST') first ||= await createAgain(deleted, { last_name: 'Beyond' });
			},
		});
		const { items } = await undoing(service).undo('copies-4', { options: { maxUndone: 1 } });
		const [, { id: second } = {}] = items;
		expect(items).toMatchObject([
			{ id: deleted, result: 'already_so', new_id: first },
			{ result: 'conflict', action: null, reason: expect.stringContaining('Maximum Records allows no more. Run the undo again.') },
		]);
		expect(await record('contacts', String(second))).toBeDefined();
		expect((await undo('copies-4', { options: { maxUndone: 1 } })).items).toMatchObject([
			{ result: 'already_so' }, { id: second, result: 'undone' },
		]);
		expect([await record('contacts', first), await record('contacts', String(second))]).toEqual([expect.anything(), undefined]);
	});
});
