import type { IDataObject } from 'n8n-workflow';

import { currentFields } from '../api/customFields';
import type { Query } from '../api/http/path';
import { readPage, readPages } from '../api/lists/pages';
import type { ListDescription } from '../api/openapi/listing';
import { getOrCreate } from '../base/maps';
import { exactNumber } from '../base/numbers';
import { allCustomFields, type Field } from '../fields/field';
import { fieldKinds, valueShape } from '../fields/fieldKinds';
import { withFields } from '../lookUp/lookUp';
import { readParts } from '../lookUp/names';
import { customFieldsOnce } from '../mapping/acceptedFields';
import { readFilters } from '../mapping/filterValues';
import { outputValue, type OutputField } from '../reading/simplify';
import { isBlank } from '../values/blank';
import type { ModelArguments } from './modelArguments';
import { fieldsOfRecordType, forReading, matchByName, filterRowsOf, toolFiltersOf } from './toolFields';
import { namedRecord } from './toolRecords';
import { toolCollection, toolDescription, executionFor, operationOfRecordType, type ToolRun } from './toolRun';
import { dataNotice, maxLimit, type RecordType, actionsOf, allowedChanges } from './toolSettings';

/** A tool's answer: records or figures, and notes on them. */
export interface ToolAnswer {
	data: IDataObject[];
	notes: string[];
	/** A note that is added if all data fits into the answer. */
	noteIfComplete?: string;
}

const usualLimit = 10;

export async function searchTool(run: ToolRun, args: ModelArguments): Promise<ToolAnswer> {
	const recordType = args.recordType();
	const { list, summary, names } = await listOfRecordType(run, recordType);
	// Without this field, a deleted record would look like any other.
	const summaryFields = summary.length > 0
		? [...new Set([...summary, ...names.filter((name) => /^(deleted|archived|merged)(_|[A-Z])/.test(name))])]
		: [];
	const limit = args.number('limit', 1, maxLimit) ?? usualLimit;
	const query = { ...(await toolQueryOf(run, recordType, list, args)), ...sortOf(list, args.text('sort')) };
	const sizedQuery = list.pageSize ? { ...query, [list.pageSize.name]: Math.min(limit, list.pageSize.maximum) } : query;
	const page = await readPage(run.api.send, toolCollection(recordType), {
		list,
		query: withFields(list, sizedQuery, summaryFields),
		cursor: args.text('cursor', 2_000),
	});
	const { records, total } = page;
	const short = summaryFields.length > 0
		? records.map((record) => Object.fromEntries(summaryFields.map((name) => [name, record[name]])))
		: records;
	const data = await forReading(run.api, await fieldsOfRecordType(run, recordType), short);
	if (data.length === 0) return { data, notes: [`No ${recordType.name} matches. Try other words or fewer filters.`] };
	const notes = [...(total !== undefined && total > data.length ? [`${total} records match.`] : []), dataNotice];
	if (page.next === undefined) return { data, notes };
	return { data, notes, noteIfComplete: `There are more: send the same arguments with cursor ${page.next}, or narrow the search.` };
}

export async function getTool(run: ToolRun, args: ModelArguments): Promise<ToolAnswer> {
	const recordType = args.recordType();
	const { record } = await namedRecord(run, recordType, args.text('record'));
	const [named = {}] = await forReading(run.api, await fieldsOfRecordType(run, recordType), [record]);
	// Returns the name and the id of a linked record, since several records may have that name.
	const ids = Object.entries(record).filter(([name, value]) => typeof value === 'string' && named[name] !== value && !isBlank(value));
	const both = Object.fromEntries(ids.flatMap(([name, value]) => [[name, value], [name.replace(/_id$/, '_name'), named[name]]]));
	const data = [{ ...named, ...both }];
	return { data, notes: [dataNotice] };
}

async function listOfRecordType(
	run: ToolRun,
	recordType: RecordType,
): Promise<{ list: ListDescription; summary: string[]; names: string[] }> {
	const { list, summary, fields } = await toolDescription(run, recordType);
	if (!list) throw new Error(`Records of the kind ${recordType.name} cannot be listed. Use another kind.`);
	return { list, summary, names: fields.map(({ name }) => name) };
}

/** Converts the model's search text and filters to a query, as the node does with an author's. */
async function toolQueryOf(run: ToolRun, recordType: RecordType, list: ListDescription, args: ModelArguments): Promise<Query> {
	const parameters = { 'filters.rows': await filterRowsOf(run, recordType, list, args) };
	const execution = executionFor(run, { recordType, operation: operationOfRecordType(recordType, 'getMany'), parameters });
	return (await readFilters(execution, 'filters', list)).query(0) as Query;
}

function sortOf({ sort }: ListDescription, requestedOrder: string | undefined): Query {
	if (requestedOrder === undefined) return {};
	const isDescending = requestedOrder.startsWith('-');
	const orders = (sort?.values ?? []).map((name) => ({ name, label: name }));
	const plain = orders.filter(({ name }) => !name.startsWith('-'));
	const found = matchByName(plain, requestedOrder.replace(/^-/, ''), 'order').name;
	const name = isDescending ? `-${found}` : found;
	if (!sort || !orders.some((order) => order.name === name)) throw new Error(`${name} is not a sort order. Use ${found}.`);
	return { [sort.name]: name };
}

/** Maximum number of records read for groups and sums. Plain counts are unlimited. */
const maxCounted = 10_000;

/** A field to group by or to add up, with its kind if the service states it. */
type CountedField = Pick<Field, 'name' | 'label' | 'path'> & Partial<Field>;

const hasNumbersToSum = ({ kind }: CountedField): boolean => kind !== undefined && fieldKinds[kind].order === 'number';

interface CountedGroup {
	key: IDataObject;
	count: number;
	/** The sum in millionths, so that adding is exact. */
	sum: bigint;
}

export async function countTool(run: ToolRun, args: ModelArguments): Promise<ToolAnswer> {
	const recordType = args.recordType();
	const { list, names } = await listOfRecordType(run, recordType);
	const fields = await fieldsOfRecordType(run, recordType);
	const countableFields = await countedFields(run, recordType, names, fields);
	const [group, sum] = ['group_by', 'sum'].map((name) => {
		const fieldName = args.text(name);
		return fieldName === undefined ? undefined : matchByName(countableFields, fieldName, 'field');
	});
	const notNumbers = () =>
		new Error(`${sum!.name} has no numbers to add up. Fields with numbers: ${countableFields.filter(hasNumbersToSum).map(({ name }) => name).slice(0, 20).join(', ') || 'none'}.`);
	if (sum?.kind !== undefined && !hasNumbersToSum(sum) && fieldKinds[sum.kind].shape !== 'open') throw notNumbers();
	const query = await toolQueryOf(run, recordType, list, args);
	const singleRecordQuery = list.pageSize ? { ...query, [list.pageSize.name]: 1 } : query;
	const { total } = await readPage(run.api.send, toolCollection(recordType), { list, query: singleRecordQuery });
	if (!group && !sum && total !== undefined) return { data: [{ count: total }], notes: [] };
	if (total !== undefined && total > maxCounted) {
		throw new Error(`There are ${total} records, but at most ${maxCounted} can be grouped or summed. Narrow them with filters.`);
	}

	const currency = sum && sum.name !== 'currency' ? countableFields.find(({ name }) => name === 'currency') : undefined;
	const keyFields = [group, currency].filter((field) => field !== undefined);
	const neededFields = [...keyFields, ...(sum ? [sum] : [])].map(({ path: [member = ''] }) => member);
	const groupsByKey = new Map<string, CountedGroup>();
	let recordCount = 0;
	const reading = { path: toolCollection(recordType), list, query: withFields(list, query, neededFields), limit: maxCounted + 1 };
	for await (const { records } of readPages(run.api.send, reading)) {
		recordCount += records.length;
		if (recordCount > maxCounted) throw new Error(`There are more than ${maxCounted} records. Narrow them with filters.`);
		for (const record of records) {
			const value = sum && valueOf(record, sum.path);
			// Texts that look like numbers may be phone numbers.
			const isText = typeof value === 'string' && value !== '' && !(sum && hasNumbersToSum(sum));
			if (Number.isNaN(Number(value ?? 0)) || typeof value === 'boolean' || isText) throw notNumbers();
			const key = Object.assign({}, ...keyFields.map(({ path }) => nested(path, valueOf(record, path) ?? null))) as IDataObject;
			const counted = getOrCreate(groupsByKey, JSON.stringify(key), () => ({ key, count: 0, sum: 0n }));
			counted.count += 1;
			if (!isBlank(value)) counted.sum += millionths(String(value));
		}
	}
	const rows = [...groupsByKey.values()].sort((first, second) => (sum ? Number(second.sum - first.sum) : second.count - first.count));
	const groups = await groupNames(run, fields, rows, group);
	const data = rows.map(({ key, count, sum: added }, i) => ({
		...(group && { [group.name]: groups[i] }),
		...(currency && { currency: key.currency ?? '(none)' }),
		count,
		...(sum && { [`sum_of_${sum.name}`]: exactly(added) }),
	}));
	if (data.length === 0) return { data: [{ count: 0 }], notes: [] };
	const listNotes = group && rows.some(({ key }) => Array.isArray(valueOf(key, group.path)))
		? [`Records are grouped by their complete list. To count a single value of ${group.name}, use a filter.`]
		: [];
	return { data, notes: group ? [...listNotes, dataNotice] : [] };
}

/** A sum as a number or, if JavaScript would round it, as the text of its digits. */
function exactly(sum: bigint): number | string {
	const digits = (sum < 0n ? -sum : sum).toString().padStart(7, '0');
	const text = `${sum < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
	return exactNumber(text) ?? text;
}

function millionths(number: string): bigint {
	const plain = /e/i.test(number) ? Number(number).toFixed(6) : number;
	const [integerPart = '', fraction = ''] = plain.trim().split('.');
	return BigInt(integerPart + fraction.slice(0, 6).padEnd(6, '0'));
}

/** The fields of a record, with each custom field as one of them. */
async function countedFields({ api }: ToolRun, recordType: RecordType, names: string[], fields: Field[]): Promise<CountedField[]> {
	const plain = names.filter((name) => name !== allCustomFields);
	const standardFields = plain.flatMap((name): CountedField[] => {
		const inner = fields.filter(({ path }) => path.length > 1 && path[0] === name);
		return inner.length > 0 ? inner : [fields.find((field) => field.name === name) ?? { name, label: name, path: [name] }];
	});
	if (plain.length === names.length) return standardFields;
	const custom = await customFieldsOnce(api, toolCollection(recordType));
	return [...standardFields, ...currentFields(custom)];
}

const valueOf = (record: IDataObject, path: string[]): unknown => outputValue(record, path as OutputField['path']);

const nested = (path: string[], value: unknown): IDataObject =>
	path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as IDataObject;

/** The groups by name, with their ids if two have the same name. */
async function groupNames({ api }: ToolRun, fields: Field[], rows: CountedGroup[], group: CountedField | undefined): Promise<unknown[]> {
	if (!group) return [];
	const named = (await forReading(api, fields, rows.map(({ key }) => key))).map((key) => valueOf(key, group.path) ?? '(none)');
	const ids = rows.map(({ key }) => valueOf(key, group.path));
	const isShared = (name: unknown, i: number) => named.some((other, k) => other === name && ids[k] !== ids[i] && typeof name === 'string');
	return named.map((name, i) => (isShared(name, i) ? `${String(name)} (${String(ids[i])})` : name));
}

/** Maximum number of choices listed per field; `field` returns all of them. */
const maxChoices = 12;

/**
 * Describes a record type: the permitted actions first, then one row per field, so that a shortened answer
 * still has complete rows. A prefix such as `custom_fields.x` returns the fields that were left out.
 */
export async function describeTool(run: ToolRun, args: ModelArguments): Promise<ToolAnswer> {
	const recordType = args.recordType();
	const fields = await fieldsOfRecordType(run, recordType);
	const fieldName = args.text('field');
	const matchingFields = fieldName === undefined ? fields : fields.filter(({ name }) => name.startsWith(fieldName));
	const isBeginning = fieldName !== undefined && matchingFields.length > 1 && !matchingFields.some(({ name }) => name === fieldName);
	if (fieldName !== undefined && !isBeginning) {
		return { data: [await fieldDetails(run, matchByName(fields, fieldName, 'field'))], notes: [] };
	}
	const describing = matchingFields.map(async (field): Promise<IDataObject> => ({ [field.name]: await describeField(run, field) }));
	const rows = await Promise.all(describing);
	const data = isBeginning ? rows : [await describeRecordType(run, recordType, fields), ...rows];
	const isCut = JSON.stringify(data).length > run.settings.maxLength;
	return { data, notes: isCut ? ['To see the other fields, send the beginning of their names as field.'] : [] };
}

async function describeRecordType(run: ToolRun, recordType: RecordType, fields: Field[]): Promise<IDataObject> {
	const { list, upsert } = await toolDescription(run, recordType);
	const filters = list ? (await toolFiltersOf(run, recordType, list)).map(({ name }) => name) : [];
	// Writable fields are listed above; the rest is read-only.
	const others = filters.filter((name) => name !== list?.search && !fields.some((field) => field.name === name));
	const { verbs } = run.settings;
	return {
		kind: recordType.name,
		changes: allowedChanges(verbs, recordType).join(', ') || 'none',
		actions: actionNames(recordType, run),
		...(verbs.has('upsert') && upsert?.match && { match_on: upsert.match.values.join(', ') }),
		fields: fields.length,
		filters: `these fields, and ${others.join(', ')}`,
	};
}

const actionNames = (recordType: RecordType, { settings }: ToolRun): string =>
	actionsOf(recordType, settings.verbs).map(({ option }) => option.value).join(', ') || 'none';

async function choicesOf({ api }: ToolRun, { choices, collection, part }: Field): Promise<string[]> {
	if (choices) return choices.map(({ value }) => String(value));
	if (collection === undefined || part === undefined) return [];
	const parts = await readParts(api, collection, part).catch(() => []);
	return [...new Set(parts.map(({ name }) => name))];
}

async function describeField(run: ToolRun, field: Field): Promise<string> {
	const choices = await choicesOf(run, field);
	const more = choices.length > maxChoices ? `|… ${choices.length - maxChoices} more` : '';
	const choicesText = choices.slice(0, maxChoices).join('|') + more;
	const valueDescription = choicesText || describeValue(field);
	const isList = valueShape(field) === 'list';
	const description = isList ? `list of ${valueDescription.replace(/^list$/, 'texts')}` : valueDescription;
	return field.required ? `${description}, required` : description;
}

function describeValue({ collection, linksTo, kind }: Field): string {
	if (collection !== undefined) return `name or id (${collection})`;
	return linksTo ? `[{resource: ${linksTo.join('|')}, id}]` : kind;
}

async function fieldDetails(run: ToolRun, field: Field): Promise<IDataObject> {
	const { name, label, kind, description, required, collection, maxLength, unique } = field;
	const choices = await choicesOf(run, field);
	const facts = {
		name,
		label,
		kind,
		description,
		required,
		unique,
		names_of: collection,
		max_length: maxLength,
		choices: choices.length > 0 ? choices : undefined,
	};
	return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined && value !== ''));
}
