import { resources } from '../schemas/index.ts';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import { anyOf, type Audience, everyone, only } from './audience.ts';
import type { Condition } from './condition.ts';
import { sqlName } from './definition.ts';

/**
 * Which records of a resource a user sees who is no administrator, as its definition says.
 *
 * @returns conditions that hold for these records
 */
export function visibleTo(userId: string, resource: Resource): Condition[] {
	const { visibility } = resource;
	if (visibility === 'everyone') return [];
	if (visibility === 'maker') return [{ sql: "document ->> '$.created_by.id' = ?", values: [userId] }];
	// The plus sign keeps the index on the sort order in use, as in filters.
	if (!('through' in visibility)) {
		return [{ sql: `+"${visibility.owner}" IN ('', ?)`, values: [userId] }];
	}
	const table = sqlName(resource);
	const seen = visibility.through.map((field): Condition => {
		const target = targetOf(resource, field);
		const isIt = { sql: `id = ${table}."${field}"`, values: [] };
		const all = [isIt, ...visibleTo(userId, target)];
		const where = all.map(({ sql }) => `(${sql})`).join(' AND ');
		return {
			sql: `EXISTS (SELECT 1 FROM ${sqlName(target)} WHERE ${where})`,
			values: all.flatMap(({ values }) => values),
		};
	});
	const either = [{ sql: `+"${visibility.user}" = ?`, values: [userId] }, ...seen];
	return [
		{ sql: either.map(({ sql }) => sql).join(' OR '), values: either.flatMap(({ values }) => values) },
	];
}

/**
 * The users who see a record, beside administrators.
 *
 * @param find gives a record of a resource, deleted or not, whoever may see it
 */
export function audienceOf(
	resource: Resource,
	record: StoredRecord,
	find: (resource: string, id: string) => StoredRecord | undefined,
): Audience {
	const { visibility } = resource;
	if (visibility === 'everyone') return everyone;
	if (visibility === 'maker') return only((record['created_by'] as { id: string }).id);
	const userIn = (field: string) => (record[field] as string | null) ?? undefined;
	if (!('through' in visibility)) {
		const owner = userIn(visibility.owner);
		return owner === undefined ? everyone : only(owner);
	}
	const user = userIn(visibility.user);
	const seen = visibility.through.flatMap((field) => {
		const target = targetOf(resource, field);
		const named = userIn(field);
		const other = named === undefined ? undefined : find(target.name, named);
		return other ? [audienceOf(target, other, find)] : [];
	});
	return anyOf([...seen, ...(user === undefined ? [] : [only(user)])]);
}

function targetOf({ properties }: Resource, field: string): Resource {
	const name = properties[field]!['x-resource'];
	return resources.find((resource) => resource.name === name)!;
}
