import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { run } from './n8n.ts';
import { automatic, create, on, update, upsert } from './parameters.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();
const simplified = async (parameters: INodeParameters, items: IDataObject[] = [{}]) => {
	const all = { ...parameters, simplify: true };
	return (await run({ credential: sandbox.credential, parameters: all, items })).items;
};
const lean = ['id', 'first_name', 'last_name', 'name', 'email', 'phone', 'job_title', 'company_id', 'lifecycle_stage', 'updated_at'];

test('created, updated and upserted records are simplified, with filled custom fields and the outcome', async () => {
	const values = { last_name: 'Lean', email: 'lean@simplify.example', 'custom_fields.nps_score': 9 };
	const [made] = await simplified(create('contact', values));
	expect(Object.keys(made!.json)).toEqual([...lean, 'custom_fields']);
	expect(made!.json.custom_fields).toEqual({ nps_score: 9 });

	const [changed] = await simplified(update('contact', String(made!.json.id), { job_title: 'VP', 'custom_fields.nps_score': '={{ null }}' }));
	expect(Object.keys(changed!.json)).toEqual(lean);
	const [found] = await simplified(upsert('contact', 'email', { email: values.email, last_name: 'Again' }));
	expect(Object.keys(found!.json)).toEqual([...lean, 'upsert_outcome']);
	expect(found!.json).toMatchObject({ id: made!.json.id, last_name: 'Again', upsert_outcome: 'updated' });
});

test('each of a batch stays linked to its item', async () => {
	const items = await simplified(create('contact', automatic), [{ last_name: 'One' }, { last_name: 'Two' }]);
	expect(items.map(({ json }) => Object.keys(json))).toEqual([lean, lean]);
	expect(items).toMatchObject([
		{ json: { last_name: 'One' }, pairedItem: { item: 0 } },
		{ json: { last_name: 'Two' }, pairedItem: { item: 1 } },
	]);
});

test('an expression decides for each item, within a batch as well', async () => {
	const parameters = { ...create('contact', automatic), simplify: '={{ $json.last_name === "Lean" }}' };
	const given = [{ last_name: 'Lean' }, { last_name: 'Whole' }, { last_name: 'Lean' }];
	const { items } = await run({ credential: sandbox.credential, parameters, items: given });
	expect(items.map(({ json }) => 'created_at' in json)).toEqual([false, true, false]);
});

test('a secret that is only shown once is kept, and what is not a record is returned whole', async () => {
	const [hook] = await simplified(create('webhook', { url: 'https://hooks.example.com/x', events: 'contact.created' }));
	expect(hook!.json).toMatchObject({ id: expect.any(String), secret: expect.stringMatching(/^whsec_/) });
	const [rotated] = await simplified(on('webhook', 'rotateSecret', hook!.json.id));
	expect(rotated!.json.secret).toMatch(/^whsec_/);
	const [delivery] = await simplified(on('webhook', 'test', hook!.json.id));
	expect(delivery!.json).toMatchObject({ event_type: 'webhook.test', created_at: expect.any(String) });
});
