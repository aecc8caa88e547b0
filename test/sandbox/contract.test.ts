import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../../sandbox/openapi/document.ts';
import type { Json } from './in-process.ts';

const document: Json = JSON.parse(JSON.stringify(openApiDocument()));
const kept = (name: string): Json =>
	JSON.parse(readFileSync(join(__dirname, '../../contract', name), 'utf8'));

test('contract/openapi.json is up to date (else run: npm run contract)', () => {
	expect(kept('openapi.json')).toEqual(document);
});

test('contract/scopes.json has the scopes of the document (else run: npm run contract)', () => {
	const { flows } = document.components.securitySchemes.oauth2;
	expect(kept('scopes.json')).toEqual(flows.authorizationCode.scopes);
});

test('contract/choices.json has the choices of the document (else run: npm run contract)', () => {
	for (const [path, fields] of Object.entries<Json>(kept('choices.json'))) {
		const { $ref } = document.paths[`/v1${path}`].post.requestBody.content['application/json'].schema;
		const { properties } = document.components.schemas[$ref.split('/').at(-1)];
		for (const [field, values] of Object.entries(fields)) {
			const { enum: own, items } = properties[field];
			expect([field, values]).toEqual([field, (own ?? items.enum).filter(Boolean)]);
		}
	}
	expect(kept('choices.json')['/tickets'].priority).toContain('urgent');
});
