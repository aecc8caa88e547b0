/** What a list says of when its records were created, changed and deleted. */
export interface RecordTimes {
	/** When a record was created, which never changes, and the parameters for a half-open span of it. */
	created?: { field: string; from: string; before: string };
	/** When a record was last changed, and the parameter for what was changed from an instant on. */
	changed?: { field: string; since: string };
	/** When a record was deleted, and the parameter that lists the deleted ones as well. */
	deleted?: { field: string; parameter: string };
}

const createdFields = ['created_at', 'createdAt', 'created_on', 'created'];

const changed = [
	{ field: 'updated_at', parameters: ['updated_since', 'updated_at[gte]'] },
	{ field: 'updatedAt', parameters: ['updatedSince', 'updatedAt[gte]'] },
	{ field: 'modified_at', parameters: ['modified_since', 'modified_at[gte]'] },
];

const deletedParameter = 'include_deleted';

/** Reads from the names of a list's parameters how it can be narrowed by time. */
export function recordTimes(parameters: string[]): RecordTimes {
	const has = (name: string) => parameters.includes(name);
	const times: RecordTimes = {};

	const created = createdFields.find((field) => has(`${field}[gte]`) && has(`${field}[lt]`));
	if (created !== undefined) {
		times.created = { field: created, from: `${created}[gte]`, before: `${created}[lt]` };
	}
	for (const { field, parameters: known } of changed) {
		const since = known.find(has);
		if (since !== undefined) times.changed ??= { field, since };
	}
	if (has(deletedParameter)) times.deleted = { field: 'deleted_at', parameter: deletedParameter };
	return times;
}

