import type { IDataObject } from 'n8n-workflow';

import { alteredService, beforeFirst, withoutVersions } from '../support/altered-service.ts';
import { duplicatesOf } from '../support/duplicates-node.ts';
import { useSandbox } from '../support/sandbox.ts';
import { undoing } from '../support/undo-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const { add, record } = undoing(sandbox);
const service = alteredService(sandbox, true);
const { merge } = duplicatesOf(service);
const saying = (text: string) => expect.stringContaining(text) as string;
const people = async (...more: IDataObject[]) =>
	await Promise.all(more.map(async (values) => (await add('contacts', { last_name: 'Elsewhere', ...values })).id));

/** Changes the description, its schemas by name. */
type Schemas = Record<string, { properties: IDataObject }>;
const described = (change: (schemas: Schemas, paths: IDataObject) => void) => service.edit(({ path, body }) => {
	const { components, paths } = body as { components?: { schemas: Schemas }; paths: IDataObject };
	if (path === '/openapi.json') change(components!.schemas, paths);
});

test.each([['changed', 'PATCH', { email: 'new@x.example' }], ['deleted', 'DELETE', undefined]])(
	'without versions, a duplicate that was %s before the deletion is not deleted', async (_how, method, body) => {
		const [survivor, loser, other] = await people({}, { email: 'old@x.example' }, {}) as [string, string, string];
		service.alter({
			answer: (text) => (text.startsWith('{') ? withoutVersions(text) : text),
			request: beforeFirst(/notes/, async () => await sandbox.call(method, `/v1/contacts/${loser}`, body)),
		});
		const reason = saying(`contacts/${loser} was changed or deleted`);
		expect((await merge([[survivor, loser, other]])).items).toMatchObject([{ result: 'conflict', deleted: [], reason }]);
		expect(await record('contacts', other)).toBeDefined();
		if (!body) return;
		expect((await merge([[survivor, loser, other]])).items).toMatchObject([{ result: 'merged' }]);
		expect(await record('contacts', survivor)).toMatchObject(body);
	});

test('where IDs are numbers and no filter, duplicates are merged, and links move', async () => {
	const [survivor, loser] = await people({}, { job_title: 'Poet' }) as [string, string];
	const deal = await add('deals', { title: 'N', contact_id: loser });
	const numbers = [[survivor, '7700001'], [loser, '7700002']] as const;
	service.alter({
		request(request) {
			for (const [id, number] of numbers) {
				request.url.href = request.url.href.replaceAll(number, id);
				request.text = request.text.replaceAll(new RegExp(`"?${number}"?`, 'g'), `"${id}"`);
			}
		},
		answer: (text) => numbers.reduce((json, [id, number]) => json.replaceAll(`"${id}"`, number), text),
		edit({ path, body }) {
			if (path !== '/openapi.json') return;
			const { get } = (body.paths as IDataObject)['/v1/contacts'] as { get: { parameters: Array<{ name: string }> } };
			get.parameters = get.parameters.filter(({ name }) => name !== 'ids');
		},
	});
	expect((await merge([['7700001', '7700002']])).items).toMatchObject([{ result: 'merged', id: '7700001', deleted: ['7700002'] }]);
	expect(await record('contacts', survivor)).toMatchObject({ job_title: 'Poet' });
	expect(await record('deals', deal.id)).toMatchObject({ contact_id: survivor });
});

describe('where deleted records cannot be read', () => {
	const withoutDeleted = (isLogged: boolean) => described((_, paths) => {
		const { get } = paths['/v1/contacts'] as { get: { parameters: Array<{ name: string }> } };
		get.parameters = get.parameters.filter(({ name }) => name !== 'include_deleted');
		if (!isLogged) delete paths['/v1/events'];
	});

	test('and without a log, unique values do not move: an interruption would lose them', async () => {
		withoutDeleted(false);
		const [first, second, third] = await people({ job_title: 'A' }, {}, { email: 'only@x.example' });
		expect((await merge([[first, third]])).items).toMatchObject([{ result: 'refused', reason: saying('email must be unique') }]);
		expect((await merge([[first, second]])).items).toMatchObject([{ result: 'merged' }]);
	});

	test('with a log, a further run says how an interrupted merge is taken back', async () => {
		withoutDeleted(true);
		const group = await people({}, { email: 'logged@x.example' });
		expect((await merge([group])).items).toMatchObject([{ result: 'merged' }]);
		const reason = saying('If a merge of it was interrupted, undo that');
		expect((await merge([group])).items).toMatchObject([{ result: 'refused', reason }]);
	});
});

describe('links that cannot be moved', () => {
	const participants = { type: 'array', title: 'Participants', items: { type: 'object', properties: {
		contact_id: { type: 'string', 'x-resource': 'contacts' }, role: { type: 'string' },
	} } };
	const link = { type: 'string', title: 'Buyer', 'x-resource': 'contacts' };
	test.each<[string, string[], IDataObject, string]>([
		['within lists', ['Deal', 'DealCreate', 'DealUpdate'], { participants }, 'Links within Participants of /v1/deals cannot be moved'],
		['that only new records get', ['Deal', 'DealCreate'], { buyer_id: link }, 'The CRM cannot change Buyer of /v1/deals'],
		['that only new records get, within lists', ['Deal', 'DealCreate'], { participants }, 'The CRM cannot change Participants of /v1/deals'],
	])('%s: nothing is merged', async (_which, names, properties, text) => {
		described((schemas) => names.forEach((name) => Object.assign(schemas[name]!.properties, properties)));
		const group = await people({}, {});
		await expect(merge([group])).rejects.toThrow(text);
		for (const id of group) expect(await record('contacts', id)).toBeDefined();
	});

	test('since the CRM does not list its custom objects: nothing is merged', async () => {
		described((_, paths) => delete paths['/v1/custom-objects']);
		const group = await people({}, {});
		await expect(merge([group])).rejects.toThrow('not list its custom objects, so links would be lost. Nothing was written. Merge the');
		for (const id of group) expect(await record('contacts', id)).toBeDefined();
	});

	const readOnly = true;
	test.each([['Participants', { participants: { ...participants, readOnly } }], ['Buyer', { buyer_id: { ...link, readOnly } }]])(
		'that the CRM sets: the user is told (%s)', async (label, properties) => {
			described(({ Deal }) => Object.assign(Deal!.properties, properties));
			const { hints } = await merge([await people({}, {})], { preview: true });
			expect(hints).toContainEqual(saying(`${label} of /v1/deals is set by the CRM, so its links may stay`));
		});
});

test('values of fields that only new records get are reported, unless the survivor has the same', async () => {
	described(({ ContactUpdate }) => ['job_title', 'address', 'language'].forEach((name) => delete ContactUpdate!.properties[name]));
	const [survivor, loser] = await people({ language: 'en' }, { job_title: 'Boss', address: { city: 'Rome' }, language: 'en' });
	for (const preview of [true, false]) {
		const { items: [item] } = await merge([[survivor, loser]], { preview });
		expect(item!.not_kept).toMatchObject([
			{ field: 'job_title', id: loser, value: 'Boss' }, { field: 'address', id: loser, value: { city: 'Rome' } },
		]);
	}
	expect(await record('contacts', survivor!)).toMatchObject({ job_title: null });
});

test('a list keeps what it has, and gets what it lacks; an array in JSON is one value, and what is not kept is reported', async () => {
	const [survivor, loser] = await people({}, {}) as [string, string];
	const line = (sku: string, primary = false) => ({ sku, value: 1, primary });
	const phone = (value: string, label: string) => ({ value, label, primary: false });
	const values: IDataObject = {
		[survivor]: {
			lines: [line('A'), line('A')], place: [52.5, 13.4], phones: [phone('+441', 'work')],
			email: 'a@x.example', emails: [{ value: 'a@x.example' }],
		},
		[loser]: {
			lines: [line('A', true), line('B', true)], place: [13.4, 52.5], phones: [phone('+441', 'home')],
			email: 'A@x.example', emails: [{ value: 'A@x.example' }],
		},
	};
	const lines = { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' }, value: { type: 'number' } } } };
	service.alter({
		request: ({ url }) => url.searchParams.delete('fields'),
		edit({ path, body }) {
			const schemas = path === '/openapi.json' ? (body.components as { schemas: Schemas }).schemas : {};
			for (const name of ['Contact', 'ContactUpdate']) Object.assign(schemas[name]?.properties ?? {}, { lines, place: {} });
			for (const row of [body.data ?? []].flat() as IDataObject[]) Object.assign(row, values[String(row.id)]);
		},
	});
	const { items: [item] } = await merge([[survivor, loser]], { preview: true, survivor: 'id', survivorId: survivor });
	expect(item).toMatchObject({
		changes: [{ field: 'lines', to: [line('A'), line('A'), line('B')] }],
		not_kept: expect.arrayContaining([
			{ field: 'place', id: loser, value: [13.4, 52.5] }, { field: 'phones', id: loser, value: phone('+441', 'home') },
		]) as unknown,
	});
	expect(item!.not_kept).toHaveLength(2);
});
