import type { IDataObject } from 'n8n-workflow';

import { alteredService } from './altered-service.ts';
import * as op from './parameters.ts';
import { useSandbox } from './sandbox.ts';
import { shortenWaits } from './short-waits.ts';
import { undoing } from './undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, add, record } = undoing(sandbox);
const service = alteredService(sandbox, true);
const { undo, results } = undoing(service);

/** How often records were read by their ids. */
const readings = () => service.passed.filter((request) => /^GET \/v1\/contacts\?/.test(request)).length;

/** A contact that an execution has changed from a to b. */
const changed = async (execution: string): Promise<string> => {
	const { id } = await add('contacts', { last_name: 'Unread', job_title: 'a' });
	await as(execution, op.update('contact', id, { job_title: 'b' }));
	return id;
};

/** From now on, the log is behind. */
const stopLog = async () => {
	const [{ sequence }] = (await sandbox.call('GET', '/v1/events?sort=-sequence&limit=1')).body.data as [{ sequence: number }];
	service.alter({
		request: ({ url }) => {
			if (url.pathname === '/v1/events') url.searchParams.set('sequence[lte]', String(sequence));
		},
	});
};

test('a record is written as the log has it, and only read where the service says that it has changed', async () => {
	const id = await changed('u1');
	expect(results(await undo('u1'))).toEqual(['undone']);
	expect(await record('contacts', id)).toMatchObject({ job_title: 'a' });
	expect(readings()).toBe(0);
});

test.each([
	['a preview', { preview: true }, 'to_be_undone'],
	['an undo that takes precedence', { options: { undoTakesPrecedence: true } }, 'undone'],
])('%s reads the records', async (name, choices, result) => {
	await changed(name);
	expect(results(await undo(name, choices))).toEqual([result]);
	expect(readings()).toBe(1);
});

test('a record whose last event lacks the field is read', async () => {
	const id = await changed('u2');
	await sandbox.call('PATCH', `/v1/contacts/${id}`, { last_name: 'Other' });
	service.edit(({ path, body }) => {
		if (!path.startsWith('/v1/events')) return;
		const last = (body.data as Array<{ data: { object: IDataObject } }>).at(-1);
		if (last?.data.object.last_name === 'Other') delete last.data.object.job_title;
	});
	expect(results(await undo('u2'))).toEqual(['undone']);
	expect(await record('contacts', id)).toMatchObject({ job_title: 'a', last_name: 'Other' });
	expect(readings()).toBe(1);
});

describe('what the log does not have yet', () => {
	test('a change of another field: conflict with both values, and nothing is overwritten', async () => {
		const id = await changed('u3');
		await stopLog();
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { last_name: 'Other' });
		expect((await undo('u3')).items).toMatchObject([
			{ result: 'conflict', action: null, reason: expect.stringContaining('log is behind') as string, changes: [{ from: 'b', to: 'a', kept: true }] },
		]);
		expect(await record('contacts', id)).toMatchObject({ job_title: 'b', last_name: 'Other' });
	});

	test('a change of the same field: conflict with the value of now', async () => {
		const id = await changed('u4');
		await stopLog();
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { job_title: 'c' });
		expect((await undo('u4')).items).toMatchObject([{ result: 'conflict', changes: [{ from: 'c', to: 'a', kept: true }] }]);
		expect(await record('contacts', id)).toMatchObject({ job_title: 'c' });
	});

	test('an earlier undo: already so', async () => {
		const id = await changed('u5');
		await stopLog();
		expect(results(await undo('u5'))).toEqual(['undone']);
		expect(results(await undo('u5'))).toEqual(['already_so']);
		expect(await record('contacts', id)).toMatchObject({ job_title: 'a' });
	});

	test('a deletion: conflict', async () => {
		const id = await changed('u6');
		await stopLog();
		await sandbox.call('DELETE', `/v1/contacts/${id}`);
		expect((await undo('u6')).items).toMatchObject([{ result: 'conflict', reason: 'Someone else has deleted the record since.' }]);
		expect(await record('contacts', id)).toBeUndefined();
	});
});
