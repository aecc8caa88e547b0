import { resources } from '../../schemas/index.ts';
import { jobs } from '../../schemas/jobs.ts';
import type { Actor } from '../../schemas/origin.ts';
import type { Resource, StoredRecord } from '../../schemas/resource.ts';
import { webhooks } from '../../schemas/webhooks.ts';
import { unionOf, type Audience, everyone, onlyUsers } from '../log/audience.ts';
import { allOf, type Condition } from '../records/condition.ts';
import { sqlName } from '../records/table-definition.ts';

/** Who reads records. */
export interface Viewer {
	caller: Actor;
	/** Whether they see every record: an API key or an administrator. */
	seesAll: boolean;
	/** The OAuth client that calls for a user; undefined for an API key and in the console. */
	application: string | undefined;
}

/** The conditions that select the records of a resource that a caller can see; empty if they see all. */
export function visibleTo({ caller, seesAll, application }: Viewer, resource: Resource): Condition[] {
	if (resource.visibility === 'application' && application !== undefined) {
		return [createdVia(caller, application, 'document', '$')];
	}
	return seesAll ? [] : visibleToUser(caller.id, resource);
}

/** The resources of which an application sees only the records that it created for its user. */
export const applicationResources = [webhooks, jobs].map(({ name }) => name);

/**
 * Selects what an application has created for a user.
 *
 * @param column the one with the record, which is at `path` in its JSON
 */
export const createdVia = ({ id }: Pick<Viewer['caller'], 'id'>, application: string, column: string, path: string): Condition => ({
	sql: `${column} ->> '${path}.created_by.id' = ? AND ${column} ->> '${path}.application_id' = ?`,
	values: [id, application],
});

function visibleToUser(userId: string, resource: Resource): Condition[] {
	const { visibility } = resource;
	if (visibility === 'everyone') return [];
	if (visibility === 'application') {
		return [{ sql: "document ->> '$.created_by.id' = ?", values: [userId] }];
	}
	// The plus sign keeps the index on the sort order in use, as in filters.
	if (!('through' in visibility)) {
		return [{ sql: `+"${visibility.owner}" IN ('', ?)`, values: [userId] }];
	}
	const table = sqlName(resource);
	const seen = visibility.through.map((field): Condition => {
		const target = targetOf(resource, field);
		const isTarget = { sql: `id = ${table}."${field}"`, values: [] };
		const { sql, values } = allOf([isTarget, ...visibleToUser(userId, target)]);
		return { sql: `EXISTS (SELECT 1 FROM ${sqlName(target)} WHERE ${sql})`, values };
	});
	const anyOf = [{ sql: `+"${visibility.user}" = ?`, values: [userId] }, ...seen];
	const sql = anyOf.map((condition) => condition.sql).join(' OR ');
	return [{ sql, values: anyOf.flatMap(({ values }) => values), readsOtherTables: true }];
}

/**
 * The users who can see a record, apart from administrators.
 *
 * @param find returns a record of a resource, deleted or not, without regard to visibility
 */
export function audienceOf(
	resource: Resource,
	record: StoredRecord,
	find: (resource: string, id: string) => StoredRecord | undefined,
): Audience {
	const { visibility } = resource;
	if (visibility === 'everyone') return everyone;
	if (visibility === 'application') {
		return onlyUsers((record['created_by'] as { id: string }).id);
	}
	const userIn = (field: string) => (record[field] as string | null) ?? undefined;
	if (!('through' in visibility)) {
		const owner = userIn(visibility.owner);
		return owner === undefined ? everyone : onlyUsers(owner);
	}
	const user = userIn(visibility.user);
	const seen = visibility.through.flatMap((field) => {
		const target = targetOf(resource, field);
		const targetId = userIn(field);
		const targetRecord = targetId === undefined ? undefined : find(target.name, targetId);
		return targetRecord && !targetRecord['erased_at'] ? [audienceOf(target, targetRecord, find)] : [];
	});
	return unionOf([...seen, ...(user === undefined ? [] : [onlyUsers(user)])]);
}

/** The resources whose records are visible through records of this one, with the field that refers to it. */
export const visibleVia = ({ name }: Resource): Array<{ resource: Resource; field: string }> =>
	resources.flatMap((resource) => {
		const { visibility, properties } = resource;
		if (typeof visibility !== 'object' || !('through' in visibility)) return [];
		const fields = visibility.through.filter((field) => properties[field]!['x-resource'] === name);
		return fields.map((field) => ({ resource, field }));
	});

function targetOf({ properties }: Resource, field: string): Resource {
	const name = properties[field]!['x-resource'];
	return resources.find((resource) => resource.name === name)!;
}
