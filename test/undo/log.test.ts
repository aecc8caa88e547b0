import type { IDataObject } from 'n8n-workflow';

import type { CrmEvent } from '../../nodes/CrmPlatform/log/crmEvent';
import { alteredService, beforeFirst } from '../support/altered-service.ts';
import { run } from '../support/node-runs.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { stopLog, undoing } from '../support/undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, createAs, add, record, living } = undoing(sandbox);
const service = alteredService(sandbox, true);
const through = undoing(service);

describe('a log that is not certain about an execution’s changes is refused, and nothing is written', () => {
	test.each<[string, Parameters<typeof service.alter>[0]]>([
		[
			'ignores the requested order, newest first',
			{ request: ({ url }) => void (url.pathname === '/v1/events' && url.searchParams.set('sort', '-sequence')) },
		],
		['has two events with one sequence', { answer: (text) => text.replace(/"sequence":\d+/g, '"sequence":7') }],
	])('it %s', async (title, alteration) => {
		const contact = await add('contacts', { last_name: 'One' });
		for (const last_name of ['Two', 'Three']) await as(title, op.update('contact', contact.id, { last_name }));
		service.alter(alteration);
		for (const since of ['', new Date(Date.now() - 60_000).toISOString()])
			await expect(through.undo(title, { since })).rejects.toThrow(/not in sequence.*expect of a CRM\. Report/);
		expect(await record('contacts', contact.id)).toMatchObject({ last_name: 'Three' });
	});
});

test('two executions of one workflow had the same number, as after n8n was restored from a backup: both are named', async () => {
	const contact = await add('contacts', { last_name: 'One' });
	const began = [Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 2)];
	for (const [i, started] of began.entries()) {
		const parameters = op.update('contact', contact.id, { job_title: `Number ${i}` });
		await run({ credential: sandbox.credential, parameters, executionId: 'same', started });
	}
	await expect(through.undo('same')).rejects.toThrow(/that began at 2026-03-01T.* and .* that began at 2026-03-02T.*Nothing was written/);
	expect(await record('contacts', contact.id)).toMatchObject({ job_title: 'Number 1' });
});

test('a user is told that some changes may be invisible, whether some or none of an execution’s are visible', async () => {
	const { baseUrl, apiKey } = service.credential;
	// The access token is the API key.
	const data = { baseUrl, grantType: 'pkce' as const, oauthTokenData: { access_token: apiKey, token_type: 'Bearer' } };
	const { undo } = undoing({ ...service, credential: { id: 'user', data } as never });
	await createAs('hidden', 'contact', { last_name: 'Seen' });
	for (const execution of ['hidden', 'unseen'])
		expect((await undo(execution, { preview: true })).hints.join()).toContain(`may not see all changes of execution ${execution}.`);
});

describe('an execution that is still at work', () => {
	test('is not undone', async () => {
		const [contact, company] = [await add('contacts', { last_name: 'One' }), await add('companies', { name: 'Linked' })];
		await as('growing', op.update('contact', contact.id, { last_name: 'Two', company_id: company.id }));
		service.alter({ request: beforeFirst(/\/companies$/, async () => await createAs('growing', 'contact', { last_name: 'Late' })) });
		await expect(through.undo('growing')).rejects.toThrow('execution growing is still making changes. Nothing was written');
		expect(await record('contacts', contact.id)).toMatchObject({ last_name: 'Two' });
	});

	test.each([0, Date.UTC(2026, 2, 1)])('is reported if it changes more meanwhile, or one with its number (begun at %p)', async (started) => {
		const execution = `busy-${started}`;
		const contact = await add('contacts', { last_name: 'One' });
		await as(execution, op.update('contact', contact.id, { last_name: 'Two' }));
		const late = { credential: sandbox.credential, parameters: op.create('contact', { last_name: 'Late' }), executionId: execution };
		service.alter({ request: beforeFirst(/^(?!GET)/, async () => await run({ ...late, ...(started > 0 && { started }) })) });
		const { items, hints } = await through.undo(execution);
		expect(items).toMatchObject([{ id: contact.id, result: 'undone' }]);
		expect(hints.join()).toContain(`execution ${execution} made 1 further change while the undo ran`);
		service.alter({});
		const again = through.undo(execution);
		if (started > 0) await expect(again).rejects.toThrow('Several executions have the number');
		else expect((await again).items.map(({ result }) => result).sort()).toEqual(['already_so', 'undone']);
	});
});

test.each([false, true])('a record newer than the log stays, even if it has its value again (created again before: %s)', async (isAnew) => {
	const [execution, last_name] = [`o6-${isAnew}`, `Ahead${isAnew}`];
	const contact = await add('contacts', { last_name, job_title: 'a' });
	await as(execution, op.update('contact', contact.id, { job_title: 'b' }));
	if (isAnew) {
		await as(`${execution}-d`, op.deleteRecord('contact', contact.id));
		await through.undo(`${execution}-d`);
	}
	const [{ id } = { id: '' }] = (await living(last_name)) as [{ id: string }];
	await stopLog(sandbox, service);
	for (const job_title of ['c', 'b']) await sandbox.call('PATCH', `/v1/contacts/${id}`, { job_title });
	const behind = expect.stringContaining('changed after this run read it') as string;
	const changes = [{ from: 'b', to: 'a', kept: true }];
	expect((await through.undo(execution)).items).toMatchObject([{ result: 'conflict', action: null, reason: behind, changes }]);
	expect(await record('contacts', id)).toMatchObject({ job_title: 'b' });
	service.alter({});
	const reason = expect.stringContaining('Someone else') as string;
	expect((await through.undo(execution)).items).toMatchObject([{ result: 'conflict', reason }]);
});

test('a created record that somebody links to while others are deleted stays', async () => {
	const inputItems = Array.from({ length: 101 }, (_, i) => ({ json: { i } }));
	const { items } = await as('late', { ...op.create('company', { name: 'Late' }) }, inputItems.map(({ json }) => json));
	let requests = 0;
	let linked = '';
	service.alter({
		request: async ({ method, text }) => {
			if (method === 'GET' || requests++ > 0) return;
			linked = items.map(({ json }) => String(json.id)).find((id) => !text.includes(id))!;
			await add('deals', { title: 'Late', company_id: linked });
		},
	});
	const undone = await through.undo('late');
	expect(undone.items.filter(({ result }) => result !== 'undone')).toMatchObject([{ id: linked, result: 'conflict' }]);
	expect(await record('companies', linked)).toBeDefined();
});

test.each([403, 401])('a refusal of a record type (403) keeps its records, one of the caller (401) stops: %d', async (status) => {
	const [contact, company] = [await add('contacts', { last_name: 'a' }), await add('companies', { name: 'a' })];
	await as(`o5-${status}`, op.update('contact', contact.id, { last_name: 'b' }));
	await as(`o5-${status}`, op.update('company', company.id, { name: 'b' }));
	const refusal = { status, body: '{}' };
	service.alter({ request: ({ method, url }) => (method === 'PATCH' && url.pathname.includes('companies') ? refusal : undefined) });
	const undone = await through.undo(`o5-${status}`).catch((error: { description?: string }) => error.description);
	if (status === 401) expect(undone).toContain('About 0 of 2 records were written. Run it again');
	else expect(undone).toMatchObject({ items: [{ reason: expect.stringContaining('for this. Ask') }, { result: 'undone' }] });
	expect(await record('contacts', contact.id)).toMatchObject({ last_name: status === 401 ? 'b' : 'a' });
});

test('a record that others change during the undo stays, also if an event beside its last change has no version', async () => {
	const { id } = await add('deals', { title: 'before' });
	await as('o7', op.update('deal', id, { title: 'after' }));
	await sandbox.call('POST', `/v1/deals/${id}/win`);
	service.alter({
		request: async ({ method }) => void (method === 'PATCH' && (await sandbox.call('PATCH', `/v1/deals/${id}`, { title: 'theirs' }))),
		edit: ({ body: { data } }) => {
			for (const event of Array.isArray(data) ? (data as CrmEvent[]) : []) if (event.type === 'deal.won') delete event.data.object.version;
		},
	});
	expect(through.results(await through.undo('o7'))).toEqual(['conflict']);
	expect(await record('deals', id)).toMatchObject({ title: 'theirs' });
});

test('a value that the CRM stores otherwise is reported also if another one was taken at first, and is not sent again', async () => {
	const { id } = await add('contacts', { last_name: 'a', custom_fields: { contract_tier: 'gold' } });
	await as('o8', op.update('contact', id, { last_name: 'b', 'custom_fields.contract_tier': 'silver' }));
	const taken = { status: 409, body: '{"code":"duplicate"}' };
	service.alter({
		request: ({ method }) => (method === 'PATCH' && !service.passed.slice(0, -1).some((call) => call.startsWith(method)) ? taken : undefined),
		edit: ({ method, body }) => void (method === 'PATCH' && (body.custom_fields = { contract_tier: 'bronze' })),
	});
	const reason = expect.stringContaining('other values than the previous ones in custom_fields.contract_tier. Check') as string;
	const change = expect.objectContaining({ field: 'custom_fields.contract_tier', to: 'gold', kept: true }) as IDataObject;
	const changes = expect.arrayContaining([change]) as unknown;
	expect((await through.undo('o8')).items).toMatchObject([{ result: 'cannot_be_undone', reason, changes }]);
	expect(service.passed.filter((call) => call.startsWith('PATCH'))).toHaveLength(2);
});
