import { filledPath } from '../api/http/path';
import { notReadable } from '../api/http/statuses';
import { undefinedIfAnsweredWith } from '../api/refusals';
import { recordName } from '../api/record';
import { withoutMembers } from '../base/ownMembers';
import { allCustomFields } from '../fields/field';
import { firstRecords } from '../lookUp/recordList';
import { chosenSource } from '../mapping/chosenNotations';
import { assignColumns } from '../mapping/assignColumns';
import type { Column } from '../mapping/columns';
import { wordsOf } from '../mapping/fieldNames';
import { recordWords } from '../mapping/usualNames';
import type { NodeRun, Resource } from '../model';
import type { ChosenFile } from '../parameters/fileParameters';
import { parseOption } from '../values/parsers';
import type { FileSurvey } from './fileSurvey';
import { assignableFields } from './importColumns';

/** The record type of a file, if that is clear, and why it has this one or none, in the user's words. */
export interface FileType {
	type?: Resource;
	why: string;
}

export const leftOutByChoice = 'Left out by choice.';
const byName = 'By the name of the file';

/**
 * The record type that the user has chosen, or the name of the file says; otherwise, the one with the most of its columns.
 *
 * @param objectTypes those of the account's custom objects, which files have the name of
 * @throws Error in the user's words if the user has chosen another word than a record type
 */
export async function fileTypeOf(
	run: NodeRun,
	recordTypes: Resource[],
	objectTypes: Resource[],
	{ name, survey: { columns }, chosen }: { name: string; survey: FileSurvey; chosen: ChosenFile | undefined },
): Promise<FileType> {
	const values = recordTypes.map(({ value }) => value);
	const chosenValue = parseOption('Files → Record Type', chosen?.typeValue, ['none', ...values], { otherwise: '' });
	if (chosenValue === 'none') return { why: leftOutByChoice };
	const chosenType = recordTypes.find(({ value }) => value === chosenValue);
	if (chosenType) return { type: chosenType, why: 'Chosen' };
	const nameWords = wordsOf(name.replace(/(\.\w+)+$/, ''));
	const [objectType, ...more] = objectTypes.filter((type) => [type.name, type.value].some((text) => wordsOf(text) === nameWords));
	if (objectType && more.length === 0) return { type: objectType, why: byName };
	const words = wordsInName(name);
	const named = recordTypes.filter((type) => [...(recordWords[type.path] ?? []), type.name.toLowerCase()].some((word) => words.has(word)));
	const candidates = [...new Set([...named, ...recordTypes.filter(({ path }) => recordWords[path])])];
	const filled = columns.filter((column) => column.filled > 0);
	const counted = await Promise.all(candidates.map(async (type) => ({ type, count: await countFields(run, type, filled) })));
	counted.sort((a, b) => b.count - a.count);
	const ofName = counted.filter(({ type }) => named.includes(type));
	const [best, second] = ofName.length > 1 ? ofName : counted;
	const [only] = ofName.length === 1 ? ofName : [];
	if (only && only.count * 2 >= best!.count) return { type: only.type, why: byName };
	if (only) return { why: `Its name says ${only.type.name}, but its columns say ${best!.type.name}. Choose its record type under Files.` };
	const isClear = best && best.count >= 2 && best.count !== second?.count;
	if (!isClear) return { why: 'Neither its name nor its columns say what it has. Choose its record type under Files.' };
	return { type: best.type, why: `${best.count} of ${filled.length} filled columns are fields of this record type` };
}

/** The words in the name of a file, as one record is called. A lead is a person, a company or a deal, each in some systems. */
function wordsInName(file: string): ReadonlySet<string> {
	const words = file.normalize('NFC').toLowerCase().replace(/\.\w+$/, '').split(/[^\p{L}]+/u);
	const singular = words.map((word) => (word === 'people' ? 'person' : word.replace(/ies$/, 'y').replace(/s$/, '')));
	return new Set(singular.filter((word) => word !== 'lead'));
}

async function countFields(run: NodeRun, resource: Resource, columns: Column[]): Promise<number> {
	const fields = (await run.api.describe(resource.path))?.create?.fields ?? [];
	const records = { path: resource.path, fields: fields.filter((field) => field.name !== allCustomFields) };
	const assigned = assignColumns(columns, await assignableFields({ ...run, resource }, records, chosenSource(run.n8n)));
	return assigned.filter(({ meaning }) => meaning !== undefined).length;
}

/** The custom objects of the account, as record types. */
export async function customObjectTypes({ api }: NodeRun, recordTypes: Resource[]): Promise<Resource[]> {
	const type = recordTypes.find(({ parents }) => parents);
	if (!type) return [];
	const objects = await firstRecords(api, '/custom-objects', Infinity).catch(undefinedIfAnsweredWith(...notReadable));
	return (objects ?? []).map((object): Resource => {
		const value = String(object.key);
		return { ...withoutMembers(type, 'parents'), name: recordName(object) ?? value, value, path: filledPath(type.path, () => value) };
	});
}
