import type { IDataObject } from 'n8n-workflow';

import type { ResourceDescription } from '../api/openapi/description';
import { idField, labelFor } from '../fields/field';
import type { WriteDescription } from '../api/openapi/writing';
import { isBlank } from '../values/blank';
import { ObjectFieldReader } from '../mapping/objectFields';
import { prepareValues, type BodyOf, type ValueObserver } from '../mapping/prepareValues';
import type { EmptyCells } from '../mapping/storedFields';
import type { Execution } from '../model';
import { requireAnyValue } from './requireWrite';

/**
 * Reads items as the lines of a job, as the operation that the job runs would read them.
 *
 * @param path of the records, without version prefix, with the ids of the parents
 * @param operation `create`, `update`, `upsert` or `delete`
 * @param observer as in `prepareValues`
 * @throws Error in the user's words if the service does not describe that operation
 */
export async function readJobLines(
	execution: Execution,
	path: `/${string}`,
	operation: string,
	emptyCells: EmptyCells,
	observer: ValueObserver,
): Promise<BodyOf> {
	if (operation === 'delete') return (item) => idOf(execution.rows?.[item]?.json ?? {});

	const description = await execution.api.describe(path);
	const write = description?.[operation as keyof ResourceDescription] as WriteDescription | undefined;
	if (!write?.fields) {
		throw new Error(
			`The CRM’s API description does not say which fields ${labelFor(operation)} takes for ${path}, so the items cannot be read and nothing was sent. Check Resource and Operation.`,
		);
	}
	const isUpdate = operation === 'update';
	const fields = isUpdate ? [idField, ...write.fields.filter(({ name }) => name !== 'id')] : write.fields;
	const { parents: _parents, ...resource } = { ...execution.resource, path };
	const whenCleared = operation === 'create' ? 'skip' : 'clear';
	const read = await prepareValues({ ...execution, resource }, { mode: 'automatic', emptyCells, linked: [] }, fields, whenCleared, [], observer);
	return (item) => {
		const line = read(item);
		if (!isUpdate) return requireAnyValue(line);
		const { id, ...values } = line;
		requireAnyValue(values);
		if (isBlank(id)) throw noId();
		return line;
	};
}

function idOf(object: IDataObject): { id: string } {
	const id = new ObjectFieldReader([idField]).read(object).values[0]?.value;
	if (isBlank(id)) throw noId();
	return { id: id as string };
}

const noId = () => new Error('The ID is missing, so the record to change is unknown. Fill in the ID.');
