import type { IDataObject, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import { findRecord, otherId, recordName } from '../api/record';
import type { Connection } from '../api/connection';
import { encodedPath, type Collection } from '../api/http/path';
import { idText } from '../base/json';
import { lookUpNames } from '../lookUp/byName';
import { isIdShaped, parseName } from '../lookUp/names';
import { distinctListItems, searchList } from '../lookUp/searchList';
import { UnclearName } from '../mapping/resolveLinks';
import { inSentences, quoted } from '../nodeAsTool/toolAnswer';
import type { NamedRecord, ToolkitCall } from './toolkitCall';

/** Maximum number of records in an answer about an unclear name. */
const maxListed = 10;

/**
 * Finds the record with an id or a name. The node never guesses between several records of one name.
 *
 * @throws Error in the model's words, with the candidates
 */
export async function namedRecord(call: ToolkitCall, nameOrId: string | undefined): Promise<NamedRecord> {
	const { settings, toolkitType: { name: typeName, collection } } = call;
	if (nameOrId === undefined) throw new Error(`record is missing. Send the id or the name of the ${typeName}.`);
	const { field, name } = parseName(nameOrId);
	const isId = field === 'id';
	// A long word with digits in it may be a name.
	const mayBeId = isId || (field === undefined && isIdShaped(name));
	const record = (mayBeId ? await recordWithId(call, name) : undefined) ?? (isId ? undefined : await recordCalled(call, nameOrId, mayBeId));
	if (record) {
		const [id, called] = [String(record.id), recordName(record)];
		return { id, title: called === undefined ? id : `${quoted(called)} (${id})`, record };
	}
	const search = `${settings.prefix}_search`;
	if (mayBeId) {
		throw new Error(`There is no ${typeName} with the id ${name}: it may be of another kind, or deleted. Find the ${typeName} with ${search}.`);
	}
	const near = await candidatesFor(call, { collection, name: nameOrId, ids: [] });
	const advice = near === '' ? `Find it with ${search}.` : `Similar: ${near}. Send the id of the right one.`;
	throw new Error(`No ${typeName} is called ${nameOrId}. ${advice}`);
}

async function recordWithId({ api, toolkitType: { name: typeName, collection } }: ToolkitCall, id: string): Promise<IDataObject | undefined> {
	const record = await findRecord(api, collection + encodedPath`/${id}`);
	const other = otherId(record, id);
	if (other !== undefined) {
		const advice = `If this is the right one, send the id ${other}.`;
		throw new Error(`For ${id}, the CRM returned the ${typeName} ${other}: the two may have been merged. ${advice}`);
	}
	if (record && idText(record.id) === undefined) throw new Error(`For ${id}, the CRM returned a ${typeName} without an ID.`);
	return record;
}

/** @throws Error in the model's words if several records have this name, with the candidates; if it is no id, and could not be looked up */
async function recordCalled(call: ToolkitCall, name: string, mayBeId: boolean): Promise<IDataObject | undefined> {
	const { api, settings, toolkitType: { name: typeName, collection } } = call;
	const result = (await lookUpNames(api, collection, [name])).get(name);
	if (result && 'found' in result) return await recordWithId(call, String(result.found));
	if (result && 'failed' in result && !mayBeId) {
		throw new Error(`The ${typeName} ${name} could not be looked up by its name: ${inSentences(result.failed.message)} Find it with ${settings.prefix}_search, and send its id.`);
	}
	if (!result || !('several' in result)) return undefined;
	const candidates = await candidatesFor(call, { collection, name, ids: result.several });
	throw new Error(`Several records of the kind ${typeName} are called ${name}: ${candidates}. Send the id of the right one.`);
}

/** Lists records of one name so that a model can tell them apart. If the author has not chosen their type, it only shows names. */
async function candidatesFor({ api, settings }: ToolkitCall, { collection, name, ids }: UnclearName['lookUp']): Promise<string> {
	const found = ids.length > 0 ? await recordsWithIds(api, collection, ids) : await similarRecords(api, collection, parseName(name).name);
	const candidates = found.slice(0, maxListed);
	const isChosen = settings.toolkitTypes.some((toolkitType) => toolkitType.collection === collection);
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
		const record = await findRecord(api, collection + encodedPath`/${String(id)}`).catch(() => undefined);
		return record ?? ({ id } as IDataObject);
	}));
	return distinctListItems(records, 'id', new Map());
}

/**
 * The records that a search finds by the name or, if there are none, by its longest words: one may be misspelt. Failing that,
 * all records of a short list, such as users or tags, and none of a long one, such as companies.
 */
async function similarRecords(api: Connection, collection: Collection, name: string): Promise<INodeListSearchItems[]> {
	const words = name.split(/\s+/).filter((word) => word.length > 2 && word !== name).sort((a, b) => b.length - a.length);
	for (const filter of [name, ...words.slice(0, 2), undefined]) {
		const searching = searchList(api, collection, { filter, cursor: undefined });
		const { results, paginationToken } = await searching.catch((): INodeListSearchResult => ({ results: [] }));
		const isShort = paginationToken === undefined && results.length <= maxListed;
		if (results.length > 0 && (filter !== undefined || isShort)) return results;
	}
	return [];
}

/** Adds the records that an unclear name of a linked record may mean to the error. */
export async function withCandidates(call: ToolkitCall, error: Error): Promise<Error> {
	if (!(error instanceof UnclearName)) return error;
	const near = await candidatesFor(call, error.lookUp).catch(() => '');
	return near === '' ? error : new Error(`${error.message} ${error.lookUp.ids.length > 0 ? 'They are' : 'There are'} ${near}.`);
}
