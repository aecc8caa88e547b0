import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { allWrites, callerOf } from './agent-tools.ts';
import { alteredService } from './altered-service.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();
const service = alteredService(sandbox, true);

/** Each time a node of its own. */
const called = async (tool: string, given: IDataObject, more: IDataObject = {}) =>
	await (await callerOf(service.credential, { writes: allWrites, options: { maxWait: 1 }, ...more }))(tool, given);
const asked = async (tool: string, given: IDataObject, more: IDataObject = {}) => await called(tool, given, { askBeforeWriting: true, ...more });

const made = async (path: string, body: IDataObject) => (await sandbox.call('POST', path, body)).body;
const read = async (path: string) => (await sandbox.call('GET', path)).body;
const status = async (path: string) => (await sandbox.call('GET', path)).status;
const tokenOf = ([answer]: IDataObject[]) => answer!.token as string;
const text = (answer: IDataObject[]) => JSON.stringify(answer);
const contacts = async (count: number) => await Promise.all(Array.from({ length: count }, async (_, i) => await made('/v1/contacts', { last_name: `Person ${i} ${randomUUID()}` })));

describe('what leaves the CRM needs Send in May Write', () => {
	const values = { channel: 'email', to: ['x@y.example'], text: 'Hi', direction: 'outbound' };

	test('a message is not sent by upsert', async () => {
		const external = randomUUID();
		const upsert = { kind: 'message', action: 'upsert', match_on: 'external_id', values: { ...values, external_id: external } };
		expect(text(await called('change', upsert, { writes: ['upsert', 'create', 'act'] }))).toMatch(/Send in May Write/);
		expect((await read(`/v1/messages?external_id=${external}`)).data).toEqual([]);
	});

	test('a scheduled message is not changed by update', async () => {
		const message = await made('/v1/messages', { ...values, scheduled_at: '2030-01-01T00:00:00Z' });
		const update = { kind: 'message', action: 'update', record: message.id, values: { to: ['evil@y.example'] } };
		expect(text(await called('change', update, { writes: ['update', 'act'] }))).toMatch(/Send in May Write/);
		expect(await read(`/v1/messages/${String(message.id)}`)).toMatchObject({ to: ['x@y.example'], version: message.version });
		expect(text(await called('change', update, { writes: ['update', 'send'] }))).toMatch(/"done"/);
	});

	test('the tool is not offered where nothing else is allowed', async () => {
		await expect(callerOf(service.credential, { kinds: ['message'], writes: ['update'], tools: ['change'] })).rejects.toThrow('May Write allows nothing');
	});
});

