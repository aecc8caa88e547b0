import type { Connection } from '../api/connection';
import { path, type Collection } from '../api/http/path';
import { readPages } from '../api/lists/pages';
import { findRecord, recordName } from '../api/record';
import { getOrCreate } from '../base/maps';
import { pointerSteps } from '../base/ownMembers';
import type { NodeFailure } from '../failure';
import type { Field } from '../fields/field';
import { collectionPath } from '../mapping/locator';
import type { Execution } from '../model';
import { listed } from '../base/lists';

/** Maximum number of existing records that are read per execution: each costs a request. */
const maxRead = 10;

/**
 * Adds the name of an existing record to its ID in an error (`duplicate`), and the available names to an error about a
 * link to no record, since an ID means nothing to people. If they cannot be read, the error stays as it is.
 */
export function nameExisting(execution: Execution): (failure: NodeFailure, item: number) => Promise<NodeFailure> {
	const names = new Map<string, string | undefined>();
	const existing = new Map<string, Promise<string>>();
	return async (failure, item) => {
		const { existing_id: id, errors = [] } = (failure.context.data ?? {}) as { existing_id?: unknown; errors?: Array<{ pointer?: string; code?: string }> };
		for (const { pointer = '', code } of errors) {
			const name = pointerSteps(pointer).join('.');
			const field = code === missingReference ? (await writtenField(execution, name)) : undefined;
			if (field?.collection === undefined) continue;
			const { label, collection } = field;
			const names = await getOrCreate(existing, collection, async () => await firstNames(execution.api, collection));
			failure.message = failure.message.replace(`${name}: `, `${label}: `);
			failure.description = [failure.description, names && `${label}: there are ${names}.`].filter(Boolean).join('\n');
		}
		if (typeof id !== 'string' || id === '') return failure;
		if (!names.has(id) && names.size < maxRead) {
			const record = await findRecord(execution.api, collectionPath(execution, item) + path`/${id}`).catch(() => undefined);
			names.set(id, record && recordName(record));
		}
		const name = names.get(id);
		if (name === undefined) return failure;
		const named = (text: string) => text.replaceAll(id, () => `${name} (${id})`);
		failure.message = named(failure.message);
		failure.description = named(failure.description ?? '');
		return failure;
	};
}

/** The code of an error about a link to a record that does not exist. */
const missingReference = 'reference_not_found';

async function writtenField({ api, resource, operation }: Execution, name: string): Promise<Field | undefined> {
	const description = await api.describe(resource.path);
	return (description && operation.describedWrite?.(description))?.fields.find(({ path: steps }) => steps.join('.') === name);
}

/** The names of a few records that exist; empty if they cannot be read. */
async function firstNames(api: Connection, collection: Collection): Promise<string> {
	const list = (await api.describe(collection))?.list;
	if (!list) return '';
	const { value: page } = await readPages(api.send, { path: collection, list, query: {}, limit: namesShown }).next().catch(() => ({ value: undefined }));
	const names = page?.records.flatMap((record) => recordName(record) ?? []) ?? [];
	return listed(names) + (page?.next === undefined ? '' : ', …');
}

const namesShown = 10;
