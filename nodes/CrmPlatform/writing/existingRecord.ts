import type { Connection } from '../api/connection';
import { path, type Collection } from '../api/http/path';
import { readPages } from '../api/lists/pages';
import { findRecord, recordName } from '../api/record';
import { getOrCreate, keptFor } from '../base/maps';
import { pointerSteps } from '../base/ownMembers';
import type { NodeFailure } from '../failure';
import { collectionPath } from '../mapping/locator';
import type { Execution } from '../model';
import { listed } from '../base/lists';

/**
 * Adds the name of an existing record to its ID in an error (`duplicate`), and the available names to an error about a
 * link to no record, since an ID means nothing to people. If they cannot be read, the error stays as it is.
 */
export async function withRecordNames(execution: Execution, failure: NodeFailure, item: number): Promise<NodeFailure> {
	const details = (failure.context.data ?? {}) as { existing_id?: unknown; errors?: Array<{ pointer?: string; code?: string }> };
	const { existing_id: id, errors = [] } = details;
	for (const { pointer = '', code } of errors) {
		if (code === missingReference) await addAvailableNames(execution, failure, pointerSteps(pointer).join('.'));
	}
	if (typeof id !== 'string' || id === '') return failure;
	const name = await existingName(execution, id, item);
	if (name === undefined) return failure;
	const named = (text: string) => text.replaceAll(id, () => `${name} (${id})`);
	failure.message = named(failure.message);
	failure.description = named(failure.description ?? '');
	return failure;
}

/** The code of an error about a link to a record that does not exist. */
const missingReference = 'reference_not_found';

async function addAvailableNames({ api, resource, operation }: Execution, failure: NodeFailure, name: string): Promise<void> {
	const description = await api.describe(resource.path);
	const fields = (description && operation.describedWrite?.(description))?.fields ?? [];
	const { label, collection } = fields.find((field) => field.path.join('.') === name) ?? {};
	if (collection === undefined) return;
	const names = await availableNames(api, collection);
	failure.message = failure.message.replace(`${name}: `, `${label}: `);
	failure.description = [failure.description, names && `${label}: there are ${names}.`].filter(Boolean).join('\n');
}

/** Maximum number of existing records that are read per execution: each costs a request. */
const maxRead = 10;

/** The names of existing records, by ID; undefined if they could not be read. */
const existingNames = new WeakMap<Connection, Map<string, string | undefined>>();

async function existingName(execution: Execution, id: string, item: number): Promise<string | undefined> {
	const names = getOrCreate(existingNames, execution.api, () => new Map<string, string | undefined>());
	if (!names.has(id) && names.size < maxRead) {
		const record = await findRecord(execution.api, collectionPath(execution, item) + path`/${id}`).catch(() => undefined);
		names.set(id, record && recordName(record));
	}
	return names.get(id);
}

/** The names of a few records that exist; empty if they cannot be read. */
const availableNames = keptFor<Connection, Promise<string>, Collection>(async (api, collection) => {
	const list = (await api.describe(collection))?.list;
	if (!list) return '';
	const pages = readPages(api.send, { path: collection, list, query: {}, limit: namesShown });
	const { value: page } = await pages.next().catch(() => ({ value: undefined }));
	const names = page?.records.flatMap((record) => recordName(record) ?? []) ?? [];
	return listed(names) + (page?.next === undefined ? '' : ', …');
});

const namesShown = 10;
