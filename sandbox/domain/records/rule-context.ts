import type { RuleContext } from '../../core/schemas/resource.ts';
import { equals, isIn } from '../../core/store/records/condition.ts';
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
	findByEntry(resource, field, values) {
		const entry = isIn('entry', JSON.stringify(values));
		const entries = `SELECT value ->> 'value' AS entry FROM json_each(document -> '$.${field}')`;
		const condition = { sql: `EXISTS (SELECT 1 FROM (${entries}) WHERE ${entry.sql})`, values: entry.values };
		return store.unrestricted.table(resource)?.findAll([condition], 2) ?? [];
	},
});
