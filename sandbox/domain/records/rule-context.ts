import type { RuleContext } from '../../core/schemas/resource.ts';
import { equals, isIn } from '../../core/store/records/condition.ts';
import { entriesName } from '../../core/store/records/table-definition.ts';
import type { WriteContext } from '../../core/store/write-context.ts';

/** The context that a resource's rules receive during a write. */
export const ruleContext = ({ store, actor, now, newId }: WriteContext): RuleContext => ({
	actor,
	at: new Date(now).toISOString(),
	newId: (prefix) => newId(prefix, now),
	find: (resource, id) => store.table(resource)?.find(id),
	count: (resource) => store.unrestricted.table(resource)?.count([]) ?? 0,
	next: (resource, field) => (store.unrestricted.table(resource)?.highest(field) ?? 0) + 1,
	findBy(resource, field, value, limit) {
		const cell = typeof value === 'boolean' ? Number(value) : value;
		return store.unrestricted.table(resource)?.findAll([equals(field, cell)], limit) ?? [];
	},
	findByEntry(resource, entries) {
		const table = store.unrestricted.table(resource)!;
		const { sql, values } = isIn('value', JSON.stringify(entries));
		return table.findAll([{ sql: `id IN (SELECT id FROM ${entriesName(table.resource)} WHERE ${sql})`, values }], 2);
	},
});
