/** The fields and parameters of a list for the times at which records were created, changed and deleted. */
export interface RecordTimes {
	/** The creation time, which never changes, and the parameters for a half-open interval. */
	created?: { field: string; from: string; before: string };
	/** The time of the last change, and the parameters that list records changed since and before an instant. */
	changed?: { field: string; since: string; until?: string };
	/** The time of deletion, and the parameter that includes deleted records. */
	deleted?: { field: string; parameter: string };
}

const createdFields = ['created_at', 'createdAt', 'created_on', 'created'];

const changed = [
	{ field: 'updated_at', parameters: ['updated_since', 'updated_at[gte]'], before: 'updated_until' },
	{ field: 'updatedAt', parameters: ['updatedSince', 'updatedAt[gte]'], before: 'updatedUntil' },
	{ field: 'modified_at', parameters: ['modified_since', 'modified_at[gte]'], before: 'modified_until' },
];

const deletedParameter = 'include_deleted';

/** Finds the time parameters among the names of a list's parameters. */
export function recordTimes(parameters: string[]): RecordTimes {
	const has = (name: string) => parameters.includes(name);
	const times: RecordTimes = {};

	const created = createdFields.find((field) => has(`${field}[gte]`) && has(`${field}[lt]`));
	if (created !== undefined) {
		times.created = { field: created, from: `${created}[gte]`, before: `${created}[lt]` };
	}
	for (const { field, parameters: parameterNames, before } of changed) {
		const since = parameterNames.find(has);
		if (since !== undefined) times.changed ??= { field, since, ...(has(before) && { until: before }) };
	}
	if (has(deletedParameter)) times.deleted = { field: 'deleted_at', parameter: deletedParameter };
	return times;
}

