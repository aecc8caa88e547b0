import type { IDataObject, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import { findRecord, otherId, recordName } from '../api/record';
import type { Connection } from '../api/connection';
import { path, type Collection } from '../api/http/path';
import { idText } from '../base/json';
import { isIdShaped, lookUpNames, parseName } from '../lookUp/names';
import { distinctListItems, searchList } from '../lookUp/searchList';
import { UnclearName } from '../mapping/linkedIds';
import { quoted } from '../toolCalls/toolAnswer';
import type { NamedRecord, ToolkitCall } from './toolkitCall';
import type { ToolSettings } from './toolSettings';

/** Maximum number of records in an answer about an unclear name. */
const maxListed = 10;

/**
 * Finds the record with an id or a name. The node never guesses between several records of one name.
 *
 * @throws Error in the model's words, with the candidates
 */
export async function namedRecord(call: ToolkitCall, nameOrId: string | undefined): Promise<NamedRecord> {
	const { api, settings, recordType: { name: kind, collection } } = call;
	if (nameOrId === undefined) throw new Error(`record is missing. Send the id or the name of the ${kind}.`);
	const { field, name } = parseName(nameOrId);
	const isId = field === 'id';
	// A long word with digits in it may be a name.
	const mayBeId = isId || (field === undefined && isIdShaped(name));
	const record = (mayBeId ? await recordWithId(call, name) : undefined) ?? (isId ? undefined : await recordCalled(call, nameOrId));
	if (record) {
		const [id, called] = [String(record.id), recordName(record)];
		return { id, title: called === undefined ? id : `${quoted(called)} (${id})`, record };
	}
	const search = `${settings.prefix}_search`;
	if (mayBeId) {
		throw new Error(`There is no ${kind} with the id ${name}: it may be of another kind, or deleted. Find the ${kind} with ${search}.`);
	}
	const near = await candidatesFor(api, settings, { collection, name: nameOrId, ids: [] });
	const advice = near === '' ? `Find it with ${search}.` : `Similar: ${near}. Send the id of the right one.`;
	throw new Error(`No ${kind} is called ${nameOrId}. ${advice}`);
}

async function recordWithId({ api, recordType: { name: kind, collection } }: ToolkitCall, id: string): Promise<IDataObject | undefined> {
	const record = await findRecord(api, collection + path`/${id}`);
	const other = otherId(record, id);
	if (other !== undefined) {
		const advice = `If this is the right one, send the id ${other}.`;
		throw new Error(`For ${id}, the CRM returned the ${kind} ${other}: the two may have been merged. ${advice}`);
	}
	if (record && idText(record.id) === undefined) throw new Error(`For ${id}, the CRM returned a ${kind} without an ID.`);
	return record;
}

/** @throws Error in the model's words, with the candidates, if several records have this name */
async function recordCalled(call: ToolkitCall, name: string): Promise<IDataObject | undefined> {
	const { api, settings, recordType: { name: kind, collection } } = call;
	const outcome = (await lookUpNames(api, collection, [name])).get(name);
	if (outcome && 'found' in outcome) return await recordWithId(call, String(outcome.found));
	if (!outcome || !('several' in outcome)) return undefined;
	const candidates = await candidatesFor(api, settings, { collection, name, ids: outcome.several });
	throw new Error(`Several records of the kind ${kind} are called ${name}: ${candidates}. Send the id of the right one.`);
}

/** The records that a search finds by the name or, if there are none, by its longest words: one may be misspelt. */
async function nearest(api: Connection, collection: Collection, name: string): Promise<INodeListSearchResult> {
	const words = name.split(/\s+/).filter((word) => word.length > 2 && word !== name);
	for (const filter of [name, ...words.sort((a, b) => b.length - a.length).slice(0, 2)]) {
		const found = await searched(api, collection, filter);
		if (found.results.length > 0) return found;
	}
	return { results: [] };
}

const searched = async (api: Connection, collection: Collection, filter: string | undefined): Promise<INodeListSearchResult> =>
	await searchList(api, collection, { filter, cursor: undefined }).catch(() => ({ results: [] }));

/** Lists records of one name so that a model can tell them apart. If the author has not chosen their type, it only shows names. */
async function candidatesFor(
	api: Connection,
	{ recordTypes }: ToolSettings,
	{ collection, name, ids }: { collection: Collection; name: string; ids: unknown[] },
): Promise<string> {
	const found = ids.length > 0 ? await recordsWithIds(api, collection, ids) : await similarRecords(api, collection, name);
	const candidates = found.slice(0, maxListed);
	const isChosen = recordTypes.some((recordType) => recordType.collection === collection);
	const listedNames = candidates.map(({ name: label, value }) => {
		const [first = ''] = label.split(' – ');
		// A label may begin with an address.
		const shown = isChosen ? label : first.includes('@') ? '' : first;
		return shown === '' || shown === value ? String(value) : `${shown} (${value})`;
	});
	return [...listedNames, ...(ids.length > listedNames.length ? [`and ${ids.length - listedNames.length} more`] : [])].join('; ');
}

/** Reads each record by its id: a search may return many others first. */
async function recordsWithIds(api: Connection, collection: Collection, ids: unknown[]): Promise<INodeListSearchItems[]> {
	const records = await Promise.all(ids.slice(0, maxListed).map(async (id) => {
		const record = await findRecord(api, collection + path`/${String(id)}`).catch(() => undefined);
		return record ?? ({ id } as IDataObject);
	}));
	return distinctListItems(records, 'id', new Map());
}

/** Lists all records of a short list, such as users or tags, and none of a long one, such as companies. */
async function similarRecords(api: Connection, collection: Collection, name: string): Promise<INodeListSearchItems[]> {
	const near = await nearest(api, collection, parseName(name).name);
	if (near.results.length > 0) return near.results;
	const all = await searched(api, collection, undefined);
	return all.paginationToken === undefined && all.results.length <= maxListed ? all.results : [];
}

/** Adds the records that an unclear name of a linked record may mean to the error. */
export async function withCandidates({ api, settings }: ToolkitCall, error: Error): Promise<Error> {
	if (!(error instanceof UnclearName)) return error;
	const { collection, name, ids } = error.lookUp;
	const near = await candidatesFor(api, settings, { collection, name, ids }).catch(() => '');
	return near === '' ? error : new Error(`${error.message} ${ids.length > 0 ? 'They are' : 'There are'} ${near}.`);
}
