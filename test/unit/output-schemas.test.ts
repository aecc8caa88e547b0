import contract from '../../contract/openapi.json';
import { adminMenu, everydayMenu } from '../../nodes/CrmPlatform/resources';
import { type Contract, outputSchemas } from '../../tools/output-schemas.ts';

const menu = [...everydayMenu, ...adminMenu];
const previews = outputSchemas(contract as unknown as Contract, menu);
const previewOf = (resource: string, operation: string) =>
	previews.find(({ file }) => file === `__schema__/v1.0.0/${resource}/${operation}.json`)?.schema;

describe('The output preview', () => {
	test('is there for every operation whose output is known before', () => {
		const operations = menu.flatMap(({ value, operations }) =>
			operations
				.filter(({ output }) => output !== null)
				.map(({ option }) => `__schema__/v1.0.0/${value}/${String(option.value)}.json`),
		);
		expect(previews.map(({ file }) => file)).toEqual(operations);
	});

	test('shows the fields of the record with their types', () => {
		expect(previewOf('message', 'send')?.properties).toMatchObject({
			id: { type: 'string' },
			channel: { type: 'string' },
			to: { type: 'array' },
		});
		expect(previewOf('user', 'getCurrent')?.properties).toHaveProperty('email');
		expect(previewOf('account', 'get')?.properties).toHaveProperty('plan');
	});

	test('shows what all kinds have, where n8n does not ask for the kind', () => {
		const { properties } = previewOf('record', 'create') ?? {};
		expect(properties).toMatchObject({ id: { type: 'string' }, external_id: { type: 'string' }, created_at: { type: 'string' } });
		expect(properties).not.toHaveProperty('email');
	});

	test('of a deletion is that it is done', () => {
		expect(previewOf('record', 'delete')).toEqual({
			type: 'object',
			properties: { deleted: { type: 'boolean' } },
		});
	});
});
