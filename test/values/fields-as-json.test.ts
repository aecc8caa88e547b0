import type { IDataObject } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { nodeRuns } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { failure, run } = nodeRuns(sandbox);

describe('fields given as JSON', () => {
	const asJson = (resource: string, operation: string, json: unknown, more: IDataObject = {}) => ({
		resource,
		operation,
		fieldsMode: 'json',
		fieldsJson: json as string,
		simplify: false,
		...more,
	});

	test('are written like mapped ones: nested as given, and typed', async () => {
		const json = JSON.stringify({
			last_name: 'Json',
			address: { city: 'Madrid' },
			'address.country': 'ES',
			custom_fields: { renewal_date: '2026-03-01T00:00:00.000Z', nps_score: '9', interests: 'events,training' },
		});
		const { items, hints } = await run(asJson('contact', 'create', json));
		expect(hints).toEqual([]);
		expect(items[0]?.json).toMatchObject({
			last_name: 'Json',
			address: { city: 'Madrid', country: 'ES' },
			custom_fields: { renewal_date: '2026-03-01', nps_score: 9, interests: ['events', 'training'] },
		});
	});

	test('come with a description of the choices, and a wrong choice is refused with the right ones', async () => {
		const { properties } = new CrmPlatform().description;
		const property = properties.find(
			({ name, displayOptions }) =>
				name === 'choicesNotice' && displayOptions?.show?.['resource']?.includes('ticket'),
		);
		expect(property?.displayName).toContain('priority: low, normal, high, urgent.');

		const creating = run(asJson('ticket', 'create', '{"subject":"Lamp","priority":"highest"}'));
		await expect(creating).rejects.toThrow('one of: low, normal, high, urgent');
	});

	test.each<[name: string, value: unknown]>([
		...[
			'#N/A', ' #DIV/0! ', '#BEZUG!', '#VÄRDEFEL!', '#¡NULO!', '#NUL!', '#Н/Д', '#YOK', 'Err:502', '########', 'undefined', 'NaN',
			...['Invalid DateTime', 'Invalid date', String({})],
		].map((text): [string, string] => ['job_title', text]),
		['custom_fields.interests', ['events', '#REF!']],
		['emails', [{ value: 'undefined' }]],
	])('that a broken formula or expression has left are refused: %s %j', async (name, value) => {
		const creating = run(asJson('contact', 'create', JSON.stringify({ last_name: 'Broken', [name]: value })));
		await expect(creating).rejects.toThrow(/is the result of a broken formula.*Error Texts Are/);
	});

	test.each(['#N/A', 'undefined'])('that look broken are written if an option says so: %s', async (text) => {
		const json = JSON.stringify({ last_name: 'Broken', job_title: text });
		const { items } = await run(asJson('contact', 'create', json, { options: { valuesIn: { notation: { errorTexts: 'written' } } } }));
		expect(items[0]?.json).toMatchObject({ job_title: text });
	});

	const ordinaryTexts = ['#1 in sales', 'NaN Smith', '#NA', 'The undefined', '#Thanks!', '#1!', 'C##'];

	test.each(ordinaryTexts)('that only resemble such a text are written: %s', async (text) => {
		const { items } = await run(asJson('contact', 'create', JSON.stringify({ last_name: 'Fine', job_title: text })));
		expect(items[0]?.json).toMatchObject({ job_title: text });
	});

	test('may be an object from an expression, as from an AI agent', async () => {
		const { items } = await run(
			asJson('contact', 'create', '={{ $json.body }}'),
			[{ body: { last_name: 'First' } }, { body: '{"last_name":"Second"}' }],
		);
		expect(items.map(({ json }) => json.last_name)).toEqual(['First', 'Second']);
	});

	test.each(['', '[1]', 'Ada', '={{ $json.nothing }}'])('are refused if they are %p', async (json) => {
		const parameters = asJson('contact', 'create', json);
		const error = await failure(parameters);
		expect(error.message).toMatch(/Fields \(JSON\): .* is not an object such as/);
	});
});
