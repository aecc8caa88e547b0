import type { IDataObject, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import { findRecord, otherId, recordName } from '../api/record';
import type { Connection } from '../api/connection';
import { path } from '../api/http/path';
import { idText } from '../base/json';
import { isIdShaped, lookUpNames, parseName } from '../lookUp/names';
import { distinctListItems, type ListedRecords, searchList } from '../lookUp/searchList';
import { UnclearName } from '../mapping/linkedIds';
import { quoted } from '../toolCalls/toolAnswer';
import { toolCollection, type NamedRecord, type ToolRun } from './toolRun';
import type { RecordType } from './toolSettings';

/** Maximum number of records in an answer about an unclear name. */
const maxListed = 10;

/**
 * Finds the record with an id or a name. The node never guesses between several records of one name.
 *
 * @throws Error in the model's words, with the candidates
 */
export async function namedRecord(run: ToolRun, recordType: RecordType, nameOrId: string | undefined): Promise<NamedRecord> {
	if (nameOrId === undefined) throw new Error(`record is missing. Send the id or the name of the ${recordType.name}.`);
	const { field, name } = parseName(nameOrId);
	const mayBeName = field === undefined && isIdShaped(name);
	const record = field === 'id' || mayBeName
		? await recordWithId(run, recordType, name, mayBeName)
		: await findByName(run, recordType, nameOrId);
	return { id: String(record.id), title: titleOf(record), record };
}

const titleOf = (record: IDataObject): string => {
	const name = recordName(record);
	return name === undefined ? String(record.id) : `${quoted(name)} (${String(record.id)})`;
};

/** @param mayBeName whether it only looks like an ID: a long word with digits in it may be a name */
async function recordWithId(run: ToolRun, recordType: RecordType, id: string, mayBeName = false): Promise<IDataObject> {
	const record = await findRecord(run.api, toolCollection(recordType) + path`/${id}`);
	const other = otherId(record, id);
	if (other !== undefined) {
		throw new Error(
			`For ${id}, the CRM returned the ${recordType.name} ${other}: the two may have been merged. If this is the right one, send the id ${other}.`,
		);
	}
	if (record && idText(record.id) === undefined) throw new Error(`For ${id}, the CRM returned a ${recordType.name} without an ID.`);
	if (record) return record;
	const named = mayBeName ? await recordNamed(run, recordType, id) : undefined;
	if (named) return named;
	throw new Error(`There is no ${recordType.name} with the id ${id}: it may be of another kind, or deleted. Find the ${recordType.name} with ${run.settings.prefix}_search.`);
}

/** @throws Error in the model's words, with the candidates, if several records have this name */
async function recordNamed(run: ToolRun, recordType: RecordType, name: string): Promise<IDataObject | undefined> {
	const collection = toolCollection(recordType);
	const outcome = (await lookUpNames(run.api, collection.slice('/v1/'.length), [name], false)).get(name);
	if (outcome && 'found' in outcome) return await recordWithId(run, recordType, String(outcome.found));
	if (!outcome || !('several' in outcome)) return undefined;
	const list = await candidateText(run, collection, name, outcome.several);
	throw new Error(`Several records of the kind ${recordType.name} are called ${name}: ${list}. Send the id of the right one.`);
}

async function findByName(run: ToolRun, recordType: RecordType, name: string): Promise<IDataObject> {
	const found = (await recordNamed(run, recordType, name)) ?? (await recordTitled(run, recordType, name));
	if (found) return found;
	const near = await candidateText(run, toolCollection(recordType), name, []);
	const advice = near === '' ? `Find it with ${run.settings.prefix}_search.` : `Similar: ${near}. Send the id of the right one.`;
	throw new Error(`No ${recordType.name} is called ${name}. ${advice}`);
}

/** The record with exactly this title. The subject of a ticket or a message is not unique: it only counts if one record has it. */
async function recordTitled({ api }: ToolRun, recordType: RecordType, title: string): Promise<IDataObject | undefined> {
	const collection = toolCollection(recordType);
	const { results } = await nearest(api, { path: recordType.resource.path, collection }, title);
	if (results.length >= maxListed) return undefined;
	const records = await Promise.all(results.map(async ({ value }) => await findRecord(api, collection + path`/${String(value)}`)));
	const matches = records.filter((record) => record && recordName(record)?.toLowerCase() === title.toLowerCase());
	return matches.length === 1 ? matches[0] : undefined;
}

async function searchIn(api: Connection, records: ListedRecords, filter: string | undefined): Promise<INodeListSearchResult> {
	return await searchList(api, records, { filter, cursor: undefined }).catch(() => ({ results: [] }));
}

/** The records that a search finds by the name or, if there are none, by its longest words: one may be misspelt. */
async function nearest(api: Connection, records: ListedRecords, name: string): Promise<INodeListSearchResult> {
	const words = name.split(/\s+/).filter((word) => word.length > 2 && word !== name);
	for (const filter of [name, ...words.sort((a, b) => b.length - a.length).slice(0, 2)]) {
		const found = await searchIn(api, records, filter);
		if (found.results.length > 0) return found;
	}
	return { results: [] };
}

/** Lists records of one name so that a model can tell them apart. If the author has not chosen their type, it only shows names. */
async function candidateText(run: ToolRun, collection: string, name: string, ids: unknown[]): Promise<string> {
	const results = ids.length > 0
		? await recordsWithIds(run, collection, ids.slice(0, maxListed))
		: await similarRecords(run, collection, name);
	const isChosen = run.settings.recordTypes.some((recordType) => toolCollection(recordType) === collection);
	const listedNames = results.slice(0, maxListed).map((result) => {
		const displayName = isChosen ? result.name : nameIn(result.name);
		return displayName === '' || displayName === result.value ? String(result.value) : `${displayName} (${result.value})`;
	});
	return [...listedNames, ...(ids.length > listedNames.length ? [`and ${ids.length - listedNames.length} more`] : [])].join('; ');
}

/** The name at the beginning of a label; empty if the label begins with an address. */
function nameIn(label: string): string {
	const [name = ''] = label.split(' – ');
	return name.includes('@') ? '' : name;
}

/** Reads each record by its id: a search may return many others first. */
async function recordsWithIds({ api }: ToolRun, collection: string, ids: unknown[]): Promise<INodeListSearchItems[]> {
	const reading = ids.map(async (id) => await findRecord(api, collection + path`/${String(id)}`).catch(() => undefined));
	const records = await Promise.all(reading);
	return distinctListItems(records.map((record, i) => record ?? ({ id: ids[i] } as IDataObject)), 'id', new Map());
}

/** Lists all records of a short list, such as users or tags, and none of a long one, such as companies. */
async function similarRecords({ api }: ToolRun, collection: string, name: string): Promise<INodeListSearchItems[]> {
	const records = { path: collection.replace(/^\/v1/, '') };
	const near = await nearest(api, records, parseName(name).name);
	if (near.results.length > 0) return near.results;
	const all = await searchIn(api, records, undefined);
	return all.paginationToken === undefined && all.results.length <= maxListed ? all.results : [];
}

/** Adds the records that an unclear name of a linked record may mean to the error. */
export async function withCandidates(run: ToolRun | undefined, error: Error): Promise<Error> {
	if (!run || !(error instanceof UnclearName)) return error;
	const { collection, name, ids } = error.lookUp;
	const near = await candidateText(run, `/v1/${collection}`, name, ids).catch(() => '');
	return near === '' ? error : new Error(`${error.message} ${ids.length > 0 ? 'They are' : 'There are'} ${near}.`);
}
