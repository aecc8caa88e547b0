import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import { exactNumber } from '../base/numbers';
import { currentFields } from '../api/customFields';
import { readPage, readPages } from '../api/lists/pages';
import { isBlank } from '../values/blank';
import { withFields } from '../lookUp/lookUp';
import { customFieldsOnce } from '../mapping/acceptedFields';
import { allCustomFields, type Field } from '../fields/field';
import { fieldKinds } from '../fields/fieldKinds';
import { outputValue, type OutputField } from '../reading/simplify';
import { listOfRecordType, toolQueryOf, type ToolAnswer } from './readingTools';
import type { ModelArguments } from './modelArguments';
import { fieldsOfRecordType, forReading, matchByName } from './toolFields';
import { toolCollection, type ToolRun } from './toolRun';
import { dataNotice } from './toolSchemas';
import type { RecordType } from './toolSettings';

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
