import type { IDataObject } from 'n8n-workflow';

import { findRecord, recordName } from '../api/record';
import { path } from '../api/http/path';
import { collectionPath } from '../mapping/locator';
import type { Execution } from '../model';

/** Maximum number of existing records that are read per execution: each costs a request. */
const maxRead = 10;

/**
 * Adds the name of an existing record to its ID in an error (`duplicate`), since an ID means nothing to people. If the
 * record cannot be read, the error stays as it is.
 */
export function nameExisting(execution: Execution): <Failure extends NamedFailure>(failure: Failure, item: number) => Promise<Failure> {
	const names = new Map<string, string | undefined>();
	const nameOf = async (id: string, item: number) => {
		const record = await findRecord(execution.api, collectionPath(execution, item) + path`/${id}`).catch(() => undefined);
		return record && recordName(record);
	};
	return async (failure, item) => {
		const { existing_id: id } = (failure.context.data ?? {}) as { existing_id?: unknown };
		if (typeof id !== 'string' || id === '') return failure;
		if (!names.has(id) && names.size < maxRead) names.set(id, await nameOf(id, item));
		const name = names.get(id);
		if (name === undefined) return failure;
		const named = (text: string) => text.replaceAll(id, () => `${name} (${id})`);
		failure.message = named(failure.message);
		failure.description = named(failure.description ?? '');
		return failure;
	};
}

interface NamedFailure {
	message: string;
	description: string | null | undefined;
	context: IDataObject;
}
