import type { OpenApiParameter } from './openapi';

/**
 * The names that the connector looks for where the source of the API names nothing: rule 5 of docs/reference/service.md. Of several
 * that a description has, the first counts; a name that is not here is a filter, or unknown.
 */
export const usualNames = {
	cursor: ['cursor', 'page_token', 'after'],
	// A limit beside a page size applies to the whole list.
	pageSize: ['page_size', 'per_page', 'limit'],
	sort: ['sort', 'order_by', 'order'],
	search: ['q', 'search', 'query'],
	fields: ['fields', 'select'],
	idempotencyKey: ['Idempotency-Key', 'X-Idempotency-Key'],
} as const;

/** The parameter with the first of a role's names, in any case. */
export function parameterFor(role: keyof typeof usualNames, parameters: OpenApiParameter[]): OpenApiParameter | undefined {
	const named = (usual: string) => parameters.find(({ name = '' }) => name.toLowerCase() === usual.toLowerCase());
	return usualNames[role].map(named).find(Boolean);
}

/** The fields and parameters of a list for the times at which records were created, changed and deleted. */
export interface RecordTimes {
	/** The creation time, which never changes, and the parameters for a half-open interval. */
	created?: { field: string; from: string; before: string };
	/** The time of the last change, and the parameters that list records changed since and before an instant. */
	changed?: { field: string; since: string; until?: string };
	/** The time of deletion, and the parameter that includes deleted records. */
	deleted?: { field: string; parameter: string };
}

/** Finds the time parameters among the names of a list's parameters (rule 11). */
export function recordTimes(parameters: string[]): RecordTimes {
	const has = (name: string) => parameters.includes(name);
	return {
		...(has('created_at[gte]') && has('created_at[lt]') && {
			created: { field: 'created_at', from: 'created_at[gte]', before: 'created_at[lt]' },
		}),
		...(has('updated_since') && {
			changed: { field: 'updated_at', since: 'updated_since', ...(has('updated_until') && { until: 'updated_until' }) },
		}),
		...(has('include_deleted') && { deleted: { field: 'deleted_at', parameter: 'include_deleted' } }),
	};
}
