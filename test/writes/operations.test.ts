import type { IDataObject } from 'n8n-workflow';

import { run as runNode } from '../support/node-runs.ts';
import { getMany, update, upsert } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const run = async (setup: Omit<Parameters<typeof runNode>[0], 'credential'>) =>
	await runNode({ credential: sandbox.credential, ...setup });
const jsons = async (setup: Omit<Parameters<typeof runNode>[0], 'credential'>) =>
	(await run(setup)).items.map(({ json }) => json);

test.each(['contact', 'company'])('Simplify keeps at most ten fields of a %s besides links and custom ones', async (resource) => {
	const [record = {}] = await jsons({ parameters: getMany(resource, { simplify: true }) });
	expect(record).toMatchObject({ id: expect.anything(), updated_at: expect.anything() });
	const { custom_fields: custom = {}, ...others } = record;
	const links = Object.keys(others).filter((name) => /_ids?$/.test(name));
	const plain = Object.keys(others).filter((name) => !links.includes(name.replace(/_name(s?)$/, '_id$1')));
	expect(plain.length).toBeLessThanOrEqual(10);
	expect(plain.length).toBeGreaterThan(3);
	expect(Object.values(custom as IDataObject)).not.toContain(null);
});

describe('mapped manually', () => {
	test('a field left blank is not sent, an expression without a result clears it', async () => {
		const { id } = await sandbox.create('contacts', {
			email: 'blank@ops.example',
			first_name: 'Ada',
			job_title: 'Analyst',
		});
		const fields = { first_name: null, last_name: '', job_title: '={{ null }}' };
		const [record] = await jsons({ parameters: update('contact', id, fields) });
		expect(record).toMatchObject({ first_name: 'Ada', last_name: null, job_title: null });
	});

	test('the field to match on must have a value', async () => {
		const parameters = upsert('contact', 'email', { first_name: 'Ada' });
		await expect(run({ parameters })).rejects.toThrow('The field to match on, email, has no value');
	});
});

describe('an item for which the expression of the record returns nothing', () => {
	const items = async () => [{ id: (await sandbox.create('companies', { name: 'Altamira' })).id }, { id: null }, {}];

	test.each(['update', 'get', 'delete'])('fails in %s, with what to do', async (operation) => {
		const parameters = { ...update('company', '={{ $json.id }}', { name: 'New' }), operation };
		const { items: outputs } = await run({ parameters, items: await items(), continueOnFail: true });
		const failed: unknown = expect.stringMatching(/expression returned nothing.*If Empty/);
		expect(outputs.map(({ json }) => json.error)).toEqual([undefined, failed, failed]);
	});

	test.each(['update', 'get', 'delete'])('is skipped in %s with If Empty, and has no output', async (operation) => {
		const parameters = { ...update('company', '={{ $json.id }}', { name: 'New' }), operation, options: { ifEmpty: 'skip' } };
		const { items: outputs, hints } = await run({ parameters, items: await items() });
		expect(outputs).toMatchObject([{ pairedItem: { item: 0 } }]);
		expect(hints).toEqual(['At least one item was skipped: the expression of its record returned nothing (If Empty).']);
	});
});
