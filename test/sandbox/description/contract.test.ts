import { contractFile, document } from '../harness/contract.ts';
import { inProcess, type Json } from '../harness/in-process.ts';

test('contract/openapi.json is up to date (otherwise run: npm run contract)', async () => {
	const { get, send } = inProcess();
	// The lists of all objects share a description, whichever was requested first.
	await get('/v1/custom-objects/machines/records');
	const { status, body } = await send('GET', '/openapi.json', undefined, { Authorization: '' });
	expect(status).toBe(200);
	expect(body).toEqual(document);
	// Readers of a change see the order of members as well.
	const isInOrder = JSON.stringify(body) === JSON.stringify(document);
	expect({ isInOrder }).toEqual({ isInOrder: true });
});

test('contract/scopes.json has the scopes of the document (otherwise run: npm run contract)', () => {
	const { flows } = document.components.securitySchemes.oauth2;
	expect(contractFile('scopes.json')).toEqual(flows.authorizationCode.scopes);
});

test('contract/choices.json has the choices of the document (otherwise run: npm run contract)', () => {
	for (const [path, fields] of Object.entries<Json>(contractFile('choices.json'))) {
		const { $ref } = document.paths[`/v1${path}`].post.requestBody.content['application/json'].schema;
		const { properties } = document.components.schemas[$ref.split('/').at(-1)];
		for (const [field, values] of Object.entries(fields)) {
			const { enum: choices, items } = properties[field];
			expect([field, values]).toEqual([field, (choices ?? items?.enum ?? []).filter(Boolean)]);
		}
	}
	expect(contractFile('choices.json')['/tickets'].priority).toContain('urgent');
});
