import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { alteredService } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, getMany, on } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { runSync, syncOf } from '../support/sync-node.ts';

// The service answers, and its description cannot be read at the moment.
const sandbox = useSandbox({ contacts: 20 });
const service = alteredService(sandbox);
const { run } = nodeRuns(service);
const { importOf } = fileRuns(service, useBinaryStore());
const sentRequests: string[] = [];
beforeEach(() => {
	sentRequests.length = 0;
	service.alter({
		request({ method, url }) {
			if (url.pathname.endsWith('/openapi.json')) return { status: 503, body: '{}' };
			if (method !== 'GET') sentRequests.push(`${method} ${url.pathname}`);
			return undefined;
		},
	});
});

const cause = /The API description at http:\/\/127\.0\.0\.1:\d+ could not be read/;
const creating = async (resource: string, item: IDataObject) =>
	await run(create(resource, automatic), [item]);

test.each<[string, string, IDataObject]>([
	['a company by its name', 'contact', { last_name: 'A', company_id: 'Acme Corporation' }],
	['an owner by email', 'contact', { last_name: 'A', owner_id: 'nobody@acme.example' }],
	['a stage by its name', 'deal', { title: 'A', stage_id: 'Closed Won?' }],
])('%s is not looked up with another service’s description: the item is refused with the cause', async (_, resource, item) => {
	await expect(creating(resource, item)).rejects.toThrow(cause);
	expect(sentRequests).toEqual([]);
});

const upsert = { resource: 'contact', operation: 'upsert', fieldsMode: 'automatic' };
const contact = { email: 'unread@services.example', last_name: 'Unread' };

test.each<[string, INodeParameters, IDataObject]>([
	['Match On', { ...upsert, fieldsMatchOn: 'email' }, contact],
	['Match On left blank', { ...upsert, fieldsMatchOn: '' }, contact],
	['an unknown field', create('contact', automatic), { ...contact, kundennummer: '7' }],
	['a filter', getMany('contact', {}, { email: 'a@b.example' }), {}],
	['a timeline', { ...on('contact', 'getTimeline', 'con_1'), limit: 50 }, {}],
])('%s, which only the description can confirm, is refused with the cause and what to do', async (_, parameters, item) => {
	await expect(run(parameters, [item])).rejects.toThrow(/nothing was sent\. Try again, or correct the API description URL/);
	expect(service.passed.filter((request) => !/openapi|custom-fields/.test(request))).toEqual([]);
});

test('a sync does not compare, write or delete by another service’s description', async () => {
	const items = [{ external_id: 'x', last_name: 'X' }];
	const all = { missingInSource: 'delete', maxDeletionsShare: 100 };
	for (const more of [{}, all]) {
		await expect(runSync({ credential: service.credential, parameters: syncOf('contact', more), items })).rejects.toThrow(cause);
	}
	expect(sentRequests).toEqual([]);
});

test.each(['create', 'update', 'upsert', 'delete'])('another service’s description does not start an import (%s)', async (importAs) => {
	await expect(importOf('id,email\ncon_1,a@x.example\n', { importAs })).rejects.toThrow(cause);
	expect(sentRequests).toEqual([]);
});

test('reading continues, in any order, and a hint tells why', async () => {
	const { items, hints } = await run(getMany('contact', { options: { sort: '-created_at' } }));
	expect(items.length).toBeGreaterThan(1);
	expect(hints.join()).toMatch(cause);
});

test('a CRM that has no description is not asked to confirm anything', async () => {
	service.alter({ request: ({ url }) => (url.pathname.endsWith('/openapi.json') ? { status: 404, body: '{}' } : undefined) });
	const { items } = await run({ ...upsert, fieldsMatchOn: 'email' }, [contact]);
	expect(items).toMatchObject([{ json: { last_name: 'Unread' } }]);
});
