import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

/** Items as people have them: columns of a spreadsheet, names instead of ids, blank cells. */
const sandbox = useSandbox();
const { failure, run } = nodeRuns(sandbox);

test('usual names of other systems are matched if the values of one name alone fit, and the user is told', async () => {
	const others = { phone: '', 'Work City': 'A', 'Home City': 'B', state: 'active', url: 'x' };
	const row = { Surname: 'A', 'E-mail Address': 'a@names.example', Mobile: '+34915550142', ...others };
	const { items, hints } = await run(create('contact', automatic), [row]);
	expect(items[0]!.json).toMatchObject({ last_name: 'A', email: 'a@names.example', phone: '+34915550142', address: null });
	expect(hints.join()).toContain('“Surname” into “Last Name”, “E-mail Address” into “Email”, “Mobile” into “Phone”.');
	expect(hints.join()).toContain('no such field: Work City, Home City, state, url.');
});

test('names of items are not matched by words that mean something else in other programs, nor by other columns', async () => {
	const contact = await sandbox.create('contacts', { last_name: 'King', external_id: 'own' });
	const others = { cell: '+34915550142', cargo: 'box', mail: 'box@names.example' };
	const names = { contact_id: 'con_1', 'Record ID': 'rec_1', name: 'Acme Inc', ...others };
	const { items, hints } = await run(update('contact', contact.id, automatic), [{ first_name: 'Ann', ...names, Idioma: 'es' }]);
	const before = { last_name: 'King', external_id: 'own', phone: null, job_title: null, email: null };
	expect(items[0]!.json).toMatchObject({ ...before, first_name: 'Ann', language: 'es' });
	expect(hints.join()).toContain('no such field: contact_id, Record ID, name, cell, cargo, mail.');
	const deal = await sandbox.first('deals');
	const written = await run(update('deal', deal.id, automatic), [{ deal_id: 'x', revenue: 7, title: 'Named' }]);
	expect(written.items[0]!.json).toMatchObject({ title: 'Named', amount: deal.amount, external_id: deal.external_id });
});

test('an empty cell is not a value to write', async () => {
	const { id } = await sandbox.create('contacts', { last_name: 'Old', job_title: 'Pilot' });
	const error = await failure(update('contact', id, automatic), [{ 'Job Title': '' }]);
	expect(error.message).toMatch(/values are blank \(Job Title\), so nothing was sent/);
});

test('a record that is referenced by name is found by name, domain or email, with one request for all items', async () => {
	const company = await sandbox.create('companies', { name: 'Looked Up Ltd', domain: 'looked-up.example' });
	const tag = await sandbox.create('tags', { name: 'Gold Client' });
	const [user] = await sandbox.list('users?limit=1');
	await sandbox.clear();
	const rows = ['Looked Up Ltd', 'looked up ltd', 'looked-up.example', company.id].map((Company) => ({
		'Last Name': 'Refers',
		Company,
		Owner: user!.email,
		Tags: 'gold client',
	}));
	const { items } = await run(create('contact', automatic), rows);
	for (const { json } of items) {
		expect(json).toMatchObject({ company_id: company.id, owner_id: user!.id, tag_ids: [tag.id] });
	}
	const reads = (await sandbox.requests()).filter(({ path }) => /companies|users|tags/.test(path));
	expect(reads.map(({ path }) => path).sort()).toEqual(['/v1/companies', '/v1/tags', '/v1/users']);
});

test('a record that is referenced by its ID needs no request', async () => {
	const company = await sandbox.create('companies', { name: 'By Id Ltd' });
	await sandbox.clear();
	await run(create('contact', { last_name: 'Refers', company_id: '={{ $json.id }}' }), [{ id: company.id }]);
	expect((await sandbox.requests()).map(({ path }) => path)).not.toContain('/v1/companies');
});

test('in a batch, the picked records are changed, not those that the items were read from', async () => {
	const names = ['Picked One', 'Picked Two', 'Source'];
	const [first, second, source] = await Promise.all(
		names.map(async (last_name) => await sandbox.create('contacts', { last_name })),
	);
	const items = [first, second].map((picked) => ({ id: source!.id, job_title: 'Pilot', picked: picked!.id }));
	const changed = await run(update('contact', '={{ $json.picked }}', automatic), items);
	expect(changed.items.map(({ json }) => json.id)).toEqual([first!.id, second!.id]);
	expect((await sandbox.read(`contacts/${source!.id}`)).job_title).toBeNull();
});
