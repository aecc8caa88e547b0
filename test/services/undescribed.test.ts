import type { IDataObject } from 'n8n-workflow';

import { alteredService } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, getMany } from '../support/parameters.ts';
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
