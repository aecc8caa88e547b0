import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { alteredService, redescribe } from '../support/altered-service.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { startSignInSandbox, type SignInSandbox } from '../support/oauth2.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { undoing } from '../support/undo-node.ts';

shortenWaits();
const sandbox = useSandbox();
const { output, run } = nodeRuns(sandbox);
let runs = 0;
const { as, undo, results, add, record, living, logShows, writes } = undoing(sandbox);
const service = alteredService(sandbox, true);

/** The writes of a record, by the path in the description, take no version. */
const takeNoVersions = (recordPath: string) =>
	redescribe(service, ({ paths }) => Object.values(paths[recordPath]!).forEach((write) => delete write.parameters));

test('an undo of all workflows recognizes earlier undos', async () => {
	const since = new Date().toISOString();
	const contact = await add('contacts', { last_name: 'All' });
	await as('t3', op.deleteRecord('contact', contact.id));
	await undo('t3');
	const all = { undoOf: 'instance', since };
	const { items } = await undo('', all);
	expect(items.filter(({ kind }) => kind === 'contact').map(({ result }) => result)).toEqual(['already_so', 'already_so']);
	expect(await living('All')).toHaveLength(1);
	expect(results(await undo('', { undoOf: 'workflow', undoId: 'workflow-2', since }))).toEqual([]);
});

test('an undo at the end of the same execution leaves nothing, and a second one changes nothing', async () => {
	const contact = await add('contacts', { last_name: 'Same' });
	await as('t4', op.update('contact', contact.id, { last_name: 'Other' }));
	await as('t4', op.create('contact', { last_name: 'Same2' }));
	expect(results(await undo('t4', {}, 't4'))).toEqual(['undone', 'undone']);
	expect(results(await undo('t4', {}, 't4'))).toEqual(['already_so', 'already_so']);
	expect(await record('contacts', contact.id)).toMatchObject({ last_name: 'Same' });
	expect(await living('Same2')).toEqual([]);
});

test('changes that cannot be undone are reported: messages, closed tickets, the setup, even if it has no versions', async () => {
	takeNoVersions('/v1/tags/{id}');
	const [{ id: assignee }] = await sandbox.list('users') as [{ id: string }];
	const ticket = await add('tickets', { subject: 'x', assignee_id: assignee, status: 'open' });
	await as('t6', op.update('ticket', ticket.id, { status: 'closed' }));
	await as('t6', op.create('tag', { name: 'undo-t6' }));
	const message = { channel: 'email', to: ['a@undo.example'], text: 'x', direction: 'outbound' };
	await as('t6', { resource: 'message', operation: 'send', fields: op.mapped(message) } as INodeParameters);
	const { items } = await undoing(service).undo('t6');
	const outcomesByRecordType = Object.fromEntries(items.map(({ kind, result, reason }) => [kind, `${String(result)}: ${String(reason)}`]));
	expect(outcomesByRecordType).toMatchObject({
		message: expect.stringContaining('cannot_be_undone: Messages'),
		tag: expect.stringContaining('cannot_be_undone: Changes to the setup'),
		ticket: expect.stringContaining('cannot_be_undone: The CRM refused it'),
	});
});

test('an import from a file is undone row by row', async () => {
	const rows = Array.from({ length: 5 }, (_, i) => `Imported${i}`).join('\n');
	const file = { data: { data: Buffer.from(`last_name\n${rows}\n`).toString('base64'), mimeType: 'text/csv', fileName: 'a.csv' } };
	const created = { resource: 'file', operation: 'importFile', kind: 'contact', importAs: 'create', preview: false, options: {} };
	const parameters = { ...created, binaryPropertyName: 'data', columnsMode: 'automatic' };
	await run(parameters, [{}], { executionId: 't7', files: file });
	expect(await living('Imported3')).toHaveLength(1);
	expect(results(await undo('t7'))).toEqual(Array.from({ length: 5 }, () => 'undone'));
	expect(await living('Imported3')).toEqual([]);
});

describe('nothing is written', () => {
	const event = {
		id: 'evt_1',
		type: 'contact.created',
		timestamp: '2026-01-10T00:00:00.000Z',
		sequence: 5,
		actor: { type: 'api_key', id: 'k' },
		request: null,
		data: { object: { id: 'con_1', version: 1 }, previous: null, changed: [] },
	};

	test('if the log no longer reaches back, unless the user accepts less', async () => {
		await logShows([event]);
		await expect(undo('x', { since: '2026-01-01' })).rejects.toThrow('only goes back to 2026-01-10T00:00:00.000Z');
		expect((await undo('x', { since: '2026-01-01', options: { allowPartialUndo: true } })).hints.join()).toContain(
			'Earlier changes are not undone',
		);
		expect(await writes()).toEqual([]);
	});

	test('if the writes of a changed record take no version', async () => {
		takeNoVersions('/v1/contacts/{id}');
		await as('unversioned', op.update('contact', (await add('contacts', { last_name: 'a' })).id, { last_name: 'b' }));
		await expect(undoing(service).undo('unversioned')).rejects.toThrow('PATCH /contacts: It takes no version');
	});

	test('if the log is empty, so that later changes are unknown', async () => {
		await logShows([]);
		await expect(undo('x', { since: '2026-01-01' })).rejects.toThrow('log of the CRM is empty');
		const { hints } = await undo('x', { since: '2026-01-01', options: { allowPartialUndo: true } });
		expect(hints.join()).toContain('The log of the CRM has nothing since then');
	});

	test.each<[string, IDataObject]>([
		['Until', { options: { until: '={{ $json.nope }}' } }],
		['Record Types', { options: { kinds: '={{ [] }}' } }],
		['Since', { since: '={{ null }}' }],
		['Maximum Records', { options: { maxUndone: '={{ $json.nope }}' } }],
		['Preview', { preview: '={{ undefined }}' }],
	])('if an expression returns nothing for %s: %j', async (label, more) => {
		const contact = await add('contacts', { last_name: 'a' });
		await as('blank', op.update('contact', contact.id, { last_name: 'b' }));
		await sandbox.clear();
		await expect(undo('blank', more)).rejects.toThrow(`${label}: `);
		expect(await writes()).toEqual([]);
	});

	test.each<[string, string, IDataObject, IDataObject]>([
		['has no version', 'contact.created', {}, { object: { id: 'con_1' } }],
		['has no previous values', 'contact.updated', {}, { changed: ['last_name'] }],
		['lacks one of the previous values', 'contact.updated', {}, { changed: ['last_name', 'email'], previous: { email: null } }],
		['does not say what caused it', 'contact.deleted', { request: { id: 'req_1' } }, {}],
		['names a part of a field', 'contact.updated', {}, { changed: ['address.city'], previous: { address: { city: 'Paris' } } }],
		['names all custom fields at once', 'contact.updated', {}, { changed: ['custom_fields'], previous: { custom_fields: {} } }],
	])('if an event %s', async (_, type, more, data) => {
		await logShows([{ ...event, type, ...more, data: { ...event.data, ...data } }]);
		await expect(undo('x')).rejects.toThrow(/^Event 5 of the log \(contact.*Nothing was written. This breaks rule 1[25] /);
		expect(await writes()).toEqual([]);
	});
});

describe('for a user who sees only some records', () => {
	let signIn: SignInSandbox;
	let credential: Awaited<ReturnType<SignInSandbox['credential']>>;
	beforeAll(async () => {
		signIn = await startSignInSandbox({ contacts: 0 });
		credential = await signIn.credential({ role: 'member', scope: 'contacts:read contacts:write events:read users:read' });
	});
	afterAll(async () => await signIn.close());

	const node = async (executionId: string, parameters: IDataObject) =>
		await output(parameters, [{}], { credential, executionId, runIndex: ++runs });
	const undoOfExecution = (undoId: string, options: IDataObject = {}) =>
		({ resource: 'change', operation: 'undo', preview: false, undoOf: 'execution', undoId, since: '', options });

	test('a record that can no longer be seen is not created again, and one that can be seen since is not deleted', async () => {
		const users = await node('o0', { resource: 'user', operation: 'getMany', returnAll: true, simplify: false, options: {}, filters: {} });
		const [createdContact] = await node('o1', op.create('contact', { last_name: 'Sight' }));
		const other = users.find(({ id }) => id !== createdContact!.owner_id)!;
		await node('o2', op.update('contact', String(createdContact!.id), { owner_id: other.id }));
		const undone = await node('o3', undoOfExecution('o2'));
		expect(undone).toMatchObject([{ result: 'cannot_be_undone', reason: expect.stringContaining('invisible to the credential') }]);
		expect(await node('o4', op.getMany('contact'))).toEqual([]);
	});

	test('a created record stays, since invisible records may link to it, unless the undo takes precedence', async () => {
		await node('p1', op.create('contact', { last_name: 'Unseen' }));
		expect(await node('p2', undoOfExecution('p1'))).toMatchObject([
			{ result: 'conflict', action: null, reason: expect.stringContaining('cannot see') },
		]);
		expect(await node('p3', undoOfExecution('p1', { undoTakesPrecedence: true }))).toMatchObject([{ result: 'undone' }]);
	});
});

test.each([
	['Create', op.deleteRecord], ['Update', (type: string, id: string) => op.update(type, id, { last_name: 'Other', language: 'fr' })],
] as const)('a value that %s does not take is reported as kept, unless the CRM has restored it', async (operation, changed) => {
	const { id } = await add('contacts', { last_name: 'Partly', language: 'en' });
	await as(operation, changed('contact', id));
	redescribe(service, ({ components: { schemas } }) => delete schemas[`Contact${operation}`]!.properties.language);
	const { items: [item] } = await undoing(service).undo(operation);
	const reason = 'The CRM stored other values than the previous ones in language. Check the record.';
	expect(item).toMatchObject({ result: 'undone', reason, changes: expect.arrayContaining([
		expect.objectContaining({ field: 'last_name', to: 'Partly' }), expect.objectContaining({ field: 'language', to: 'en', kept: true }),
	]) as unknown });
	expect((item!.changes as IDataObject[]).filter(({ kept }) => kept)).toHaveLength(1);
});
