import type { CustomField } from '../../schemas/custom-fields.ts';
import type { StoreView } from '../visibility/visible-store.ts';

/** The custom fields of a resource, archived ones included, by key. */
export function customFieldsOf(store: StoreView, resource: string): Map<string, CustomField> {
	const table = store.unrestricted.table('custom-fields')!;
	return table.cached(`of ${resource}`, () => {
		const ofResource = { sql: '"resource" = ?', values: [resource] };
		const found = table.findAll([ofResource], 10_000) as CustomField[];
		return new Map(found.map((field) => [field.key, field]));
	});
}
