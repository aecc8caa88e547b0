import type { CustomField } from '../../schemas/custom-fields.ts';
import type { StoreView } from '../visibility/visible-store.ts';
import { equals } from './condition.ts';

/** The custom fields of a resource, archived ones included, by key. */
export function customFieldsOf(store: StoreView, resource: string): Map<string, CustomField> {
	const table = store.unrestricted.table('custom-fields')!;
	return table.cached(`of ${resource}`, () => {
		const definitions = table.findAll([equals('resource', resource)]) as CustomField[];
		return new Map(definitions.map((field) => [field.key, field]));
	});
}
