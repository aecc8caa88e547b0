import type { IDataObject } from 'n8n-workflow';

import { run } from '../support/node-runs.ts';
import { automatic, mapped, update } from '../support/parameters.ts';
import { useForms } from '../services/form-runs.ts';

const forms = useForms();

const text = { type: 'string' };
const place = { type: 'object', properties: { city: text, zip: text, tags: { type: 'array', items: text } } };
const schema = {
	type: 'object',
	properties: {
		name: text, places: { type: 'array', items: place }, site: { type: 'object', properties: { point: place } }, days: { type: 'object' },
	},
};

/** The body of the request for an item. */
async function requestBodyFor(item: IDataObject, how: IDataObject = automatic, options: IDataObject = {}): Promise<unknown> {
	let sent = '';
	const requestBody = { content: { 'application/json': { schema } } };
	forms.form = {
		document: { openapi: '3.1.0', paths: { '/v1/contacts': { get: {} }, '/v1/contacts/{id}': { get: {}, patch: { requestBody } } } },
		answer: ({ body }) => {
			sent = body;
			return { body: '{"id":"r1"}' };
		},
	};
	await run({ credential: forms.credential(), parameters: { ...update('contact', 'r1', how), options } as never, items: [item] });
	return JSON.parse(sent);
}

const inputItem = {
	name: 'A', places: [{ city: 'Rome', zip: '', tags: [] }, { city: ' ' }, { city: null }], site: { point: { city: '', zip: '1' } },
};
const places = [{ city: 'Rome' }, { city: null }];
const ways = {
	automatic: (item: IDataObject): [IDataObject, IDataObject] => [item, automatic],
	json: (item: IDataObject): [IDataObject, IDataObject] => [{}, { fieldsMode: 'json', fieldsJson: JSON.stringify(item) }],
	'by expression': (item: IDataObject): [IDataObject, IDataObject] => [
		item,
		mapped({ name: '={{ $json.name }}', places: '={{ $json.places }}', 'site.point': '={{ $json.site.point }}' }),
	],
};

test('a blank in an object is left as it is automatically, and left out of the objects of a list', async () => {
	expect(await requestBodyFor(...ways.automatic(inputItem))).toEqual({ name: 'A', places, site: { point: { zip: '1' } } });
});

test.each([
	['{"city":"","zip":"1"}', { zip: '1' }],
	['{"city":"","zip":null}', { zip: null }],
	['{"city":""}', undefined],
])('a blank in an object that comes as JSON text is left as it is automatically: %s', async (point, written) => {
	expect(await requestBodyFor({ name: 'A', 'site.point': point })).toEqual({ name: 'A', ...(written && { site: { point: written } }) });
});

test.each(['json', 'by expression'] as const)('a blank in an object is cleared %s, and left out of the objects of a list', async (way) => {
	expect(await requestBodyFor(...ways[way](inputItem))).toEqual({ name: 'A', places, site: { point: { city: null, zip: '1' } } });
});

test('Empty Cells clears the blanks in an object, and no other member of it', async () => {
	const [item, how] = ways.automatic({ ...inputItem, places: [{ city: '' }] });
	expect(await requestBodyFor(item, how, { emptyCells: 'clear' })).toEqual({
		name: 'A', places: null, site: { point: { city: null, zip: '1' } },
	});
});

test('no value in an object is lost automatically', async () => {
	const item = { name: 'A', days: { a: 0, b: false, c: { d: 'x' } } };
	expect(await requestBodyFor(item)).toEqual(item);
});
