import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import { parseOpenApi } from '../../nodes/CrmPlatform/api/openapi/openapi';
import { wrongBaseUrl } from '../../nodes/CrmPlatform/api/openapi/paths';
import { describeContacts, documentWith, query } from './described-document.ts';

describe('an operation', () => {
	const read = (paths: object, components: object = {}, path = '/contacts') => describeResource(documentWith(paths, components), path);

	test('overrides the parameters of its path', () => {
		const description = read({
			'/v1/contacts': {
				parameters: [query('limit', { maximum: 10 }), query('status', { type: 'string' })],
				get: { parameters: [query('limit', { maximum: 20 }), query('status', { type: 'boolean' })] },
			},
		});
		expect(description?.list).toMatchObject({ pageSize: { maximum: 20 }, filters: [{ name: 'status', kind: 'boolean' }] });
	});

	test('may be in a path item that is referenced', () => {
		const pathItems = { contacts: { get: {}, post: {} } };
		const paths = { '/v1/contacts': { $ref: '#/components/pathItems/contacts' } };
		expect(read(paths, { pathItems })?.create).toBeDefined();
	});

	test('may have a path with its parameters filled in', () => {
		const paths = { '/v1/custom-objects/{key}/records': { get: {} }, '/v1/{any}': { get: {} } };
		expect(read(paths, {}, '/custom-objects/cars/records')?.list).toBeDefined();
		expect(read(paths)).toBeUndefined();
	});

	test('is sent in the media type it accepts, and refused by name if that is not JSON', () => {
		const schema = { properties: { name: { type: 'string' } } };
		const writtenAs = (...types: string[]) =>
			describeContacts({}, { requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) } }).create;
		expect(writtenAs('application/merge-patch+json')).toMatchObject({
			contentType: 'application/merge-patch+json', fields: [{ name: 'name' }],
		});
		expect(writtenAs('application/json-patch+json', 'application/json; charset=utf-8').contentType).toBeUndefined();
		expect(writtenAs('application/xml', 'application/json-patch+json').refusal).toContain('application/xml or application/json-patch+json');
	});
});

describe('a base URL', () => {
	const isWrong = (address: string, paths: string, ...servers: string[]) => {
		const document = parseOpenApi({
			openapi: '3.1.0',
			paths: { [paths]: { get: {} } },
			...(servers.length > 0 && { servers: servers.map((url) => ({ url })) }),
		});
		return document && wrongBaseUrl(document, '/contacts', address, 'https://crm.example/openapi.json');
	};

	test.each([
		['https://crm.example', '/v1/contacts', []],
		['https://crm.example', '/v1/contacts', ['/']],
		['https://crm.example', '/contacts', ['/v1']],
		['https://crm.example/api', '/v1/contacts', ['/api/']],
		['https://crm.example/api', '/contacts', ['https://crm.example/api/v1']],
		['https://gateway.example/crm', '/v1/contacts', ['https://crm.example/api']],
		['https://crm.example', '/v1/contacts', ['https://{tenant}.example', '/other', '/']],
	])('%s fits paths such as %s on the servers %p', (address, paths, servers) => {
		expect(isWrong(address, paths, ...servers)).toBeUndefined();
	});

	test.each([
		['/v1/contacts', '/api'],
		['/contacts', 'https://crm.example/api/v1'],
	])('without the folder of the API is reported, for paths such as %s on %s', (paths, server) => {
		expect(isWrong('https://crm.example', paths, server)).toMatch(/the API is at https:\/\/crm\.example\/api,/);
	});
});
