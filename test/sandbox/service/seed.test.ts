import { resources } from '../../../sandbox/core/schemas/index.ts';
import { isReadOnly } from '../../../sandbox/core/schemas/resource.ts';
import { seed } from '../../../sandbox/seed/seed.ts';
import { Store } from '../../../sandbox/core/store/store.ts';
import { newDatabase } from '../harness/databases.ts';
import { inProcess } from '../harness/in-process.ts';

test('the same number of contacts always creates the same data', async () => {
	const [first, second] = [inProcess({ contacts: 200 }), inProcess({ contacts: 200 })];
	for (const { name } of resources) {
		expect(await first.all(`/v1/${name}`)).toEqual(await second.all(`/v1/${name}`));
	}
});

test('no address in the generated data reaches anyone', async () => {
	const { all } = inProcess({ contacts: 1000 });
	for (const contact of await all('/v1/contacts?limit=500')) {
		expect(contact.email ?? 'none@x.example').toMatch(/\.example$/);
	}
	for (const company of await all('/v1/companies')) {
		expect(company.domain).toMatch(/\.example$/);
		expect(company.website).toMatch(/\.example$/);
	}
});

test('the service would have accepted every record', async () => {
	const { all, patch, store } = inProcess({ contacts: 100 });
	for (const resource of [...resources, store.table('custom-objects/machines/records')!.resource]) {
		for (const record of await all(`/v1/${resource.name}`)) {
			const writable = Object.entries(record).filter(([field]) => !isReadOnly(resource, field));
			const response = await patch(`/v1/${resource.name}/${record.id}`, Object.fromEntries(writable));
			expect({ status: response.status, body: response.body }).toEqual({ status: 200, body: record });
		}
	}
});

test('no two records share a unique value, even in a large account', async () => {
	const { all } = inProcess({ contacts: 5000 });
	const contacts = await all('/v1/contacts?limit=500&fields=email');
	const addresses = contacts.map(({ email }) => email).filter(Boolean);
	expect(contacts).toHaveLength(5000);
	expect(new Set(addresses).size).toBe(addresses.length);
});

test('a file that has data is not filled again', async () => {
	const path = newDatabase();
	const before = inProcess({ contacts: 3, store: new Store(path) });
	const [first] = await before.all('/v1/contacts');
	await before.delete(`/v1/contacts/${first.id}`);
	const left = await before.all('/v1/contacts');
	before.store.close();
	const after = inProcess({ contacts: 100, store: new Store(path) });
	expect(await after.all('/v1/contacts')).toEqual(left);
	after.store.close();
});

test('an account with a few contacts, or none, can be created', () => {
	for (let contacts = 0; contacts <= 60; contacts++) {
		const store = new Store(':memory:');
		seed(store, contacts, { isLively: true });
		expect(store.table('contacts')!.count([])).toBe(contacts);
		store.close();
	}
});
