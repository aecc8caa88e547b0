import contract from '../../contract/openapi.json';
import { adminMenu, everydayMenu } from '../../nodes/CrmPlatform/resources';
import { type Contract, outputSchemas } from '../../tools/output-schemas.ts';

const menu = [...everydayMenu, ...adminMenu];
const previews = outputSchemas(contract as unknown as Contract, menu);
const previewOf = (resource: string, operation: string) =>
	previews.find(({ file }) => file === `__schema__/v1.0.0/${resource}/${operation}.json`)?.schema;

describe('The output preview', () => {
	test('exists for every operation whose output is known in advance', () => {
		const plainEntries = menu.filter(({ recordTypes }) => !recordTypes);
		const operations = plainEntries.flatMap(({ value, operations }) =>
			operations
				.filter(({ output }) => output !== null)
				.map(({ option }) => `__schema__/v1.0.0/${value}/${String(option.value)}.json`),
		);
		expect(previews.map(({ file }) => file)).toEqual(operations);
	});

	test('shows the fields of the record with their types', () => {
		expect(previewOf('contact', 'create')?.properties).toMatchObject({
			id: { type: 'string' },
			email: { type: 'string' },
			tag_ids: { type: 'array', items: { type: 'string' } },
			address: { type: 'object', properties: { city: { type: 'string' } } },
		});
		expect(previewOf('customObjectRecord', 'get')?.properties).toHaveProperty('title');
		expect(previewOf('user', 'getCurrent')?.properties).toHaveProperty('email');
		expect(previewOf('account', 'get')?.properties).toHaveProperty('plan');
	});

	test('of a deletion confirms it', () => {
		expect(previewOf('deal', 'delete')).toEqual({ type: 'object', properties: { deleted: { type: 'boolean' } } });
	});
});
