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
const through = undoing(service);

test('a log that hands out an event twice does not delete again what was created again', async () => {
	const contact = await add('contacts', { last_name: 'Repeated' });
	await as('l1', op.deleteRecord('contact', contact.id));
	service.edit(({ path, body }) => {
		if (!path.startsWith('/v1/events')) return;
		const events = body.data as IDataObject[];
		body.data = [...events, ...events.slice(-1)];
		body.total = Number(body.total) + events.slice(-1).length;
	});
	expect(through.results(await through.undo('l1'))).toEqual(['undone']);
	expect((await sandbox.call('GET', '/v1/contacts?last_name=Repeated')).body.data).toHaveLength(1);
});

/** The JSON without members of these names, and without parameters that are called so. */
const without = (text: string, names: string[]): string =>
	JSON.stringify(JSON.parse(text), (_, value: unknown) => {
		if (Array.isArray(value)) return value.filter((one: { name?: string } | null) => !names.includes(one?.name ?? '') && !names.includes(one as unknown as string));
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
	});

describe('the node says that a change in between may be overwritten', () => {
	const unprotected = 'The service does not accept a version with a write';

	test.each([
		['whose records have no versions', ['If-Match', 'version'], () => true],
		['that accepts no versions', ['If-Match', 'version'], (path: string) => path === '/openapi.json'],
	])('where the undo goes to a service %s', async (title, names, isAltered) => {
		const [one, two] = [await add('contacts', { last_name: 'One' }), await add('contacts', { last_name: 'Two', external_id: title })];
		const { items: [made] } = await as(title, op.create('contact', { last_name: 'Made' }));
		await as(title, op.update('contact', one.id, { last_name: 'Wrong' }));
		await as(title, op.deleteRecord('contact', two.id));
		service.alter({ answer: (text, { url }) => (text.startsWith('{') && isAltered(url.pathname) ? without(text, names) : text) });
		for (const preview of [true, false]) {
			const { items, hints } = await through.undo(title, { preview });
			expect(items.map(({ result }) => result)).toEqual(Array.from({ length: 3 }, () => (preview ? 'to_be_undone' : 'undone')));
			expect(hints.join()).toContain(unprotected);
		}
		expect(await record('contacts', one.id)).toMatchObject({ last_name: 'One' });
		expect(await record('contacts', String(made!.json.id))).toBeUndefined();
		expect((await sandbox.call('GET', `/v1/contacts?external_id=${encodeURIComponent(title)}`)).body.data).toHaveLength(1);
		expect((await through.undo(title)).items.map(({ result }) => result)).toEqual(['already_so', 'already_so', 'already_so']);
	});
});
