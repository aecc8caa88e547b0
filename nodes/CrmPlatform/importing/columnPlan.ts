import type { IDataObject } from 'n8n-workflow';

import { customFieldOf, customFieldsIfAny, type CustomFields, type Definition } from '../api/customFields';
import { collectionName } from '../api/http/path';
import { readPage } from '../api/lists/pages';
import { keyDigest } from '../base/digest';
import { listed } from '../base/lists';
import { customFieldPrefix, type Field } from '../fields/field';
import { fieldErrorOr, FieldError } from '../fields/fieldError';
import { elementOf } from '../fields/fieldKinds';
import { inApiNotation } from '../fields/notations';
import type { ColumnMatch } from '../mapping/columnMatch';
import { meaningText } from '../mapping/fieldNames';
import { valueToSend } from '../mapping/itemValues';
import type { Execution } from '../model';
import type { MappedColumns } from '../parameters/fileParameters';
import { unaccentedText } from '../values/foldedText';
import { sendAlone } from '../writing/sendAlone';
import { columnsIn, fieldsOfColumns, fieldTypes, hasUnknownName, inFile, valueReading } from './importColumns';
import type { ColumnValues, FileSurvey, ImportTarget, ValueReading } from './importColumns';

/** Where the columns of a file go. */
export interface ColumnPlan {
	/** The columns that are renamed: field and column. */
	renamed: Array<[field: string, column: string]>;
	/** The columns that go nowhere; undefined if only the renamed ones are imported. */
	leftOut: ReadonlySet<string> | undefined;
	/** For the preview: filled columns that go nowhere come first. */
	table: IDataObject[];
}

/** Decides where the columns of a file go, and creates what is missing for that. @throws as `fieldsOfColumns` */
export async function planColumns(execution: Execution, target: ImportTarget, mapped: MappedColumns, survey: FileSurvey): Promise<ColumnPlan> {
	const { only } = mapped;
	const found = await fieldsOfColumns(execution, target, mapped, survey);
	const matches = await withMissingFields(execution, target, found, survey.values);
	if (!only) noteColumns(execution, target, matches);
	const unseen = survey.header ? [] : columnsIn(mapped).filter((column) => !survey.columns.some(({ name }) => name === column));
	if (unseen.length > 0) {
		execution.api.notices.add(
			`Not imported because no row has this column: ${unseen.map((name) => `“${name}”`).join(', ')}. Correct the name in Columns, or in the file, and import it again with Create or Update.`,
		);
	}
	return {
		renamed: only ? [...only] : renamedColumns(matches),
		leftOut: only ? undefined : new Set(matches.filter(({ meaning }) => meaning === undefined).map(({ name }) => name)),
		table: tableOf(matches),
	};
}

function renamedColumns(matches: ColumnMatch[]): ColumnPlan['renamed'] {
	const renamed: ColumnPlan['renamed'] = [];
	for (const { name, meaning, isRenamed } of matches) if (isRenamed && meaning !== undefined) renamed.push([meaningText(meaning), name]);
	return renamed;
}

/** The values of a row by field. */
export function withFieldNames(content: IDataObject, { renamed, leftOut }: ColumnPlan): IDataObject {
	const has = (name: string) => Object.hasOwn(content, name);
	const fields = renamed.flatMap(([field, column]) => (has(column) ? [[field, content[column]]] : []));
	if (!leftOut) return Object.fromEntries(fields) as IDataObject;
	if (fields.length === 0 && leftOut.size === 0) return content;
	const isKept = ([name]: [string, unknown]) => !leftOut.has(name) && !renamed.some(([, column]) => column === name);
	return Object.fromEntries([...Object.entries(content).filter(isKept), ...fields]) as IDataObject;
}

/**
 * Creates custom fields for the columns that no field fits, and the choices that columns have and their custom fields do
 * not; in a preview, only for the preview itself.
 */
async function withMissingFields(
	execution: Execution,
	target: ImportTarget,
	matches: ColumnMatch[],
	values: FileSurvey['values'],
): Promise<ColumnMatch[]> {
	const makesFields = target.missing.creates('customFields');
	const makesChoices = target.missing.creates('choices');
	const custom = makesFields || makesChoices ? await customFieldsIfAny(execution.api, target.path, target.fields) : undefined;
	if (!custom) return matches;
	const all: ColumnMatch[] = [];
	for (const match of matches) {
		const ofColumn = values.get(match.name);
		if (makesFields && hasUnknownName(match)) {
			const { field, label } = await createField(execution, target, match.name, ofColumn, custom);
			custom.fields.push(field);
			all.push({ ...match, meaning: field, isRenamed: true, why: `A new custom field: ${label}` });
			continue;
		}
		const { meaning } = match;
		const isOfChoices = typeof meaning === 'object' && ['select', 'multi_select'].includes(meaning.type ?? '');
		if (makesChoices && isOfChoices && ofColumn) await createChoices(execution, target, meaning, ofColumn);
		all.push(match);
	}
	return all;
}

/** @returns the field, and the label of its type */
async function createField(
	execution: Execution,
	target: ImportTarget,
	column: string,
	values: ColumnValues | undefined,
	custom: CustomFields,
): Promise<{ field: Field; label: string }> {
	const { type, label } = values?.types?.[0] ?? fieldTypes.at(-1)!;
	const names = new Set([...custom.fields.map(({ name }) => name), ...custom.unwritableNames]);
	const plainName = unaccentedText(column).replace(/[^a-z\d]+/g, '_').replace(/^[\d_]+|_+$/g, '').slice(0, 55) || 'field';
	const key = unusedName(plainName, '_', (name) => names.has(customFieldPrefix + name));
	const definition: Definition = { key, label: column.slice(0, 100), type };
	target.missing.add('custom fields', `${column}: ${label}`);
	if (!target.isPreview) await writeField(execution, 'create', '', { resource: collectionName(target.path), ...definition });
	return { field: customFieldOf(definition), label };
}

/** A name, with the first number that makes it another than those in use. */
function unusedName(name: string, separator: string, isUsed: (name: string) => boolean): string {
	let unused = name;
	for (let number = 2; isUsed(unused); number += 1) unused = `${name}${separator}${number}`;
	return unused;
}

/** Maximum characters of a choice. A row with a longer one is refused. */
const maxChoiceLength = 100;

/** The choices that a column has and its field does not, as its rows will be read. */
function missingChoices(field: Field, { texts }: ColumnValues, reading: ValueReading): NonNullable<Field['choices']> {
	const read = (of: Field, value: unknown) => fieldErrorOr(() => valueToSend(of, inApiNotation(of, value, reading.notations), reading));
	const values = [...texts].flatMap((text) => read(field, JSON.parse(text)));
	const named = values.filter((value) => !(value instanceof FieldError)).map((value) => String(value).trim());
	const before = field.choices ?? [];
	const choices = [...before];
	const isChoice = (text: string) => choices.some(({ value }) => value === read({ ...elementOf(field), choices }, text));
	// Values have no commas, which separate them in lists: a choice without any is its own value, whatever the others become.
	for (const text of named.sort((a, b) => Number(a.includes(',')) - Number(b.includes(',')))) {
		if (isChoice(text) || text.length > maxChoiceLength) continue;
		choices.push({ label: text, value: unusedName(text.replaceAll(',', ' '), ' ', isChoice) });
	}
	return choices.slice(before.length);
}

async function createChoices(execution: Execution, target: ImportTarget, field: Field, values: ColumnValues): Promise<void> {
	const added = missingChoices(field, values, valueReading(execution.n8n));
	if (added.length === 0) return;
	for (const { label } of added) target.missing.add(`choices of ${field.label}`, label);
	field.choices = [...(field.choices ?? []), ...added];
	if (target.isPreview) return;
	const key = field.path.at(-1)!;
	const list = (await execution.api.describe('/custom-fields'))?.list;
	const page = list && (await readPage(execution.api.send, '/custom-fields', { list, query: { resource: collectionName(target.path), key } }));
	const [definition, ...others] = page?.records ?? [];
	if (!definition || others.length > 0) throw new Error(`The CRM does not find the definition of “${field.label}”, so nothing was written.`);
	await writeField(execution, 'update', `/${encodeURIComponent(String(definition.id))}`, { options: field.choices });
}

async function writeField(execution: Execution, operation: 'create' | 'update', at: string, body: IDataObject): Promise<void> {
	const description = (await execution.api.describe('/custom-fields'))?.[operation];
	if (!description) throw new Error('The CRM does not describe how custom fields are created. Create them first, or turn off Create What Is Missing.');
	await sendAlone(execution, description, { collection: '/custom-fields', path: `/custom-fields${at}`, body }, [0, -2, keyDigest(JSON.stringify([at, body]))]);
}

const columnsNoted = 20;

/** Tells which filled columns are not imported. */
function noteColumns({ api }: Execution, target: ImportTarget, matches: ColumnMatch[]): void {
	const filled = matches
		.filter((match) => match.filled > 0 && match.meaning === undefined && !match.isReadOnly && !match.isChosen)
		.sort((a, b) => b.filled - a.filled);
	if (filled.length === 0) return;
	api.requireDescription('Import File');
	const names = filled.map(({ name, filled: rows, why }) => `“${name}” (${rows} ${rows === 1 ? 'row' : 'rows'}. ${why})`);
	api.notices.add(inFile(target, `Not imported: ${listed(names, columnsNoted)}. Map them with Exceptions, or rename them in the file.`));
}

function tableOf(matches: ColumnMatch[]): IDataObject[] {
	const rank = ({ meaning, isReadOnly }: ColumnMatch) => (meaning !== undefined ? 1 : isReadOnly ? 2 : 0);
	const rows = matches
		.filter(({ filled }) => filled > 0)
		.sort((a, b) => rank(a) - rank(b))
		.map(({ name, meaning, why, samples, filled }): IDataObject => ({
			column: name,
			field: meaning === undefined ? null : meaningText(meaning),
			why,
			sample: samples[0] as string,
			filled,
		}));
	const empty = matches.length - rows.length;
	if (empty === 0) return rows;
	const column = empty === 1 ? '1 empty column' : `${empty} empty columns`;
	return [...rows, { column, field: null, why: 'No row has a value', sample: null, filled: 0 }];
}
