import { namesOf } from '../../../sandbox/core/schemas/names.ts';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import { document } from '../harness/contract.ts';
import type { Json } from '../harness/in-process.ts';

const { schemas } = document.components;

/** The names of all record types. */
const records = resources.map((resource) => namesOf(resource).Singular);

test.each(records)('the forms for %s are flat and labeled', (name) => {
	for (const form of ['Create', 'Update', 'Upsert']) {
		const { properties, ...schema } = schemas[name + form];
		expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
		expect(JSON.stringify(properties)).not.toMatch(/"(anyOf|allOf|oneOf|\$ref|readOnly)"/);
		for (const property of Object.values<Json>(properties)) {
			const label = { title: expect.any(String), description: expect.any(String) };
			expect(property).toMatchObject({ ...label, type: expect.anything() });
		}
	}
});

test.each(records)('%s marks about eight fields for the beginning of a form', (name) => {
	const markedOf = (schema: string): string[] =>
		Object.entries<Json>(schemas[schema].properties).filter(([, property]) => property['x-important'] === true)
			.map(([field]) => field);
	const marked = markedOf(name);
	expect(marked.length).toBeGreaterThanOrEqual(3);
	expect(marked.length).toBeLessThanOrEqual(9);
	// Required fields are among them, in every form.
	expect(marked).toEqual(expect.arrayContaining(schemas[`${name}Create`].required ?? []));
	for (const form of ['Create', 'Update', 'Upsert']) {
		const fields = Object.keys(schemas[name + form].properties);
		expect(markedOf(name + form)).toEqual(marked.filter((field) => fields.includes(field)));
	}
});

test('every option of a field has a label for people', () => {
	const choices = Object.values<Json>(schemas).flatMap(({ properties = {} }) =>
		Object.values<Json>(properties).filter(({ title, enum: options }) => title && options),
	);
	expect(choices.length).toBeGreaterThan(50);
	for (const { enum: options, 'x-enum-labels': labels } of choices) {
		const named = options.filter((option: unknown) => option !== null);
		expect(Object.keys(labels)).toEqual(named);
		for (const label of Object.values(labels)) expect(label).toMatch(/^[A-Z][\w -]*$/);
	}
	const { channel } = schemas.Message.properties;
	expect(channel['x-enum-labels']).toMatchObject({ sms: 'SMS', webchat: 'Web Chat', email: 'Email' });
});
