import { alteredService, withoutVersions } from '../support/altered-service.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { stopLog, undoing } from '../support/undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, createAs, add, record } = undoing(sandbox);
const service = alteredService(sandbox, true);
const { undo, results } = undoing(service);

/** A contact that an execution has changed from a to b. */
const changed = async (execution: string): Promise<string> => {
	const { id } = await add('contacts', { last_name: 'Behind', job_title: 'a' });
	await as(execution, op.update('contact', id, { job_title: 'b' }));
	return id;
};

describe('an event that the log does not have yet', () => {
	test('an earlier undo: conflict, and “already so” once the log has it', async () => {
		const id = await changed('u5');
		await stopLog(sandbox, service);
		expect(results(await undo('u5'))).toEqual(['undone']);
		expect(results(await undo('u5'))).toEqual(['conflict']);
		service.alter({});
		expect(results(await undo('u5'))).toEqual(['already_so']);
		expect(await record('contacts', id)).toMatchObject({ job_title: 'a' });
	});
});

test('without versions, a created record that somebody changes while others are deleted stays', async () => {
	const companyIds = await Promise.all(Array.from({ length: 3 }, async (_, i) => await createAs('u7', 'company', { name: `Made ${i}` })));
	let changedId: string | undefined;
	service.alter({
		answer: (text) => (text.startsWith('{') ? withoutVersions(text) : text),
		request: async ({ method, url }) => {
			if (method !== 'DELETE' || changedId !== undefined) return;
			changedId = companyIds.find((id) => !url.pathname.endsWith(id));
			await sandbox.call('PATCH', `/v1/companies/${String(changedId)}`, { description: 'Mine' });
		},
	});
	const undone = await undo('u7');
	expect(undone.items.filter(({ result }) => result !== 'undone')).toMatchObject([
		{ id: changedId, result: 'conflict', reason: expect.stringContaining('someone else has changed it since') as string },
	]);
	expect(await record('companies', String(changedId))).toMatchObject({ description: 'Mine' });
});
