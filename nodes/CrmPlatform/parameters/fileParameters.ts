import { isExpression, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';

import { listed } from '../base/lists';
import type { Encoding, FileFormat, FileSettings } from '../files/rows';
import { storedParameter } from '../mapping/locator';
import { pairsIn } from '../mapping/chosenNotations';
import type { Resource } from '../model';
import { emptyCells, mapperProperties, matchOnProperty, valuesInOption } from './fieldParameters';
import { booleanProperty, choiceProperty, choicesProperty, chosenOption, listedChoice, rowsProperty, textProperty } from './properties';
import { fieldsDependOn } from './recordParameters';

export const binaryFieldProperty = textProperty('Input Binary Field', 'binaryField', {
	default: 'data',
	required: true,
	hint: 'The name of the input field that has the file. If the item has a single file, it is used whatever its name.',
});

export function fileFormatProperty(formats: FileFormat[], description?: string): INodeProperties {
	const options: Array<[label: string, value: FileFormat, description: string]> = [
		['CSV', 'csv', 'A table whose first row names the columns'],
		['JSON Array', 'json', 'One list of records'],
		['NDJSON', 'ndjson', 'One record per line'],
	];
	const offered = options.filter(([, value]) => formats.includes(value));
	return choiceProperty('File Format', 'fileFormat', 'csv', offered, description === undefined ? {} : { description });
}

const importFormat = fileFormatProperty(['csv', 'json', 'ndjson']);

export const importAsProperty = choiceProperty('What to Do', 'importAs', 'create', [
	['Create', 'create', 'Each row becomes a new record'],
	['Create or Update', 'upsert', 'Create a new record, or update the current one if it already exists (upsert)'],
	['Delete', 'delete', 'Each row deletes the record with its ID'],
	['Update', 'update', 'Each row updates the record with its ID'],
]);

const sourceProperty = textProperty('Source Name', 'sourceName', {
	noDataExpression: true,
	placeholder: 'e.g. hubspot',
	description: 'The system of the file: its ID 9001 becomes the External ID hubspot:9001, also in links',
});

const alphabetical = (options: Array<[label: string, value: string]>) => options.sort(([a], [b]) => (a < b ? -1 : 1));

/** The form for the files of another system. */
export const relatedFilesProperties = (recordTypes: Resource[]): INodeProperties[] => [
	{ ...sourceProperty, required: true },
	rowsProperty({ displayName: 'Files', name: 'files', placeholder: 'Add File', description: 'Corrections of what Preview shows' }, {
		displayName: 'File',
		name: 'files',
		values: [
			textProperty('File Name', 'file', { placeholder: 'e.g. people.csv' }),
			choiceProperty('Record Type', 'kind', '', alphabetical([
				['By Its Name and Columns', ''],
				['Do Not Import', 'none'],
				...recordTypes.filter(({ parents }) => !parents).map(({ name, value }): [string, string] => [name, value]),
			])),
			textProperty('Exceptions', 'columns', {
				typeOptions: { rows: 3 },
				placeholder: 'e.g. Mobile → phone',
				hint: 'One pair a line: column → field, or nothing to leave it out',
			}),
		],
	}),
	importPreview,
];

export interface ChosenFile {
	/** The value of its record type; empty if the user leaves that to the node, `none` to leave the file out. */
	typeValue: string;
	columns: Map<string, string | undefined>;
}

/**
 * What the user has chosen for a file: `contacts.failed.csv` is the rest of `contacts.csv`.
 *
 * @param names of the files
 * @throws Error in the user's words for a file that is not there, or that is chosen twice
 */
export function chosenFiles(n8n: IExecuteFunctions, names: string[]): (name: string) => ChosenFile | undefined {
	const rows = n8n.getNodeParameter('files.files', 0, []) as Array<{ file?: unknown; kind?: unknown; columns?: unknown }>;
	const chosen = new Map<string, ChosenFile>();
	const originalName = (name: string) => name.replace(/(?:\.failed)+(?=\.\w+$)/, '');
	for (const { file, kind, columns } of rows) {
		const name = String(file ?? '').trim();
		if (chosen.has(name)) throw new Error(`Files → File Name: the file “${name}” is there twice. Remove one of them.`);
		if (!names.some((other) => other === name || originalName(other) === name)) {
			throw new Error(`Files → File Name: the input has no file “${name}”. Its files are ${listed(names)}. Nothing was written.`);
		}
		const pairs = pairsIn('Files → Exceptions', columns, 'Mobile → phone', true);
		const fields = new Map(pairs.map(([column, field]) => [column, field === '' ? undefined : field]));
		chosen.set(name, { typeValue: String(kind ?? ''), columns: fields });
	}
	return (name) => chosen.get(name) ?? chosen.get(originalName(name));
}

const columnsMode = choiceProperty('Map Columns', 'columnsMode', 'automatic', [
	['Map Automatically', 'automatic', 'Each column goes into the field with its name, its label or a usual name in other systems'],
	['Map Each Field', 'each', 'Enter the column of each field in a form'],
]);

const columnsDependOn = [...fieldsDependOn, 'importAs'];

const importPreview = booleanProperty('Preview', 'preview', true, 'Whether to only read and check the file, without writing anything, to see what would be sent and which rows would be refused');

export const importProperties: INodeProperties[] = [
	binaryFieldProperty,
	importAsProperty,
	matchOnProperty({ name: 'matchOn', displayOptions: { show: { importAs: ['upsert'] } } }),
	sourceProperty,
	importFormat,
	columnsMode,
	rowsProperty(
		{
			displayName: 'Exceptions',
			name: 'columnExceptions',
			placeholder: 'Add Column',
			displayOptions: { show: { columnsMode: ['automatic'] } },
			description: 'Columns for other fields than the automatic ones, or none',
		},
		{
			displayName: 'Column',
			name: 'columns',
			values: [
				textProperty('Column', 'column', { description: 'Its name in the file' }),
				listedChoice({ displayName: 'Field Name or ID', name: 'field' }, 'getColumnOptions', columnsDependOn),
			],
		},
	),
	...mapperProperties(
		{ displayName: 'Columns', name: 'columns', description: 'The column of each field. Other columns are not sent.' },
		'getColumnFields',
		{ columnsMode: ['each'] },
		{ dependsOn: columnsDependOn, valuesLabel: 'Columns' },
	),
	importPreview,
];

/** In an export, automatic is what spreadsheets of the region expect. */
export const delimiterOption = choiceProperty('Delimiter', 'delimiter', 'auto', [
	['Automatic', 'auto'],
	['Comma', ','],
	['Pipe', '|'],
	['Semicolon', ';'],
	['Tab', '\t'],
]);

const encodingOption = choiceProperty('Encoding', 'encoding', 'auto', [
	['Automatic (BOM, Otherwise UTF-8)', 'auto'],
	['UTF-16 (Big Endian)', 'utf-16be'],
	['UTF-16 (Little Endian)', 'utf-16le'],
	['UTF-8', 'utf-8'],
	['Windows-1252', 'windows-1252'],
]);

export const refusedValuesOption = choiceProperty('Refused Values', 'refusedValues', 'refuse', [
	['Leave the Value Out', 'leaveOut', 'Write the rest of the row. The file “left_out” has the values.'],
	['Refuse the Row', 'refuse', 'The file “failed” has the rows with all reasons'],
]);

export const repeatedRowsOption = choiceProperty('Rows of One Record', 'repeatedRows', 'lastWins', [
	['Last One Wins', 'lastWins'],
	['Refuse All but the First', 'refuse'],
], { description: 'Rows with the same ID or value to match on' });

const createMissingOption = choicesProperty('Create What Is Missing', 'createMissing', [], [
	['Choices of Custom Fields', 'choices'],
	['Companies', 'companies'],
	['Custom Fields', 'customFields'],
	['Pipelines and Stages', 'pipelines'],
	['Tags', 'tags'],
], { description: 'What to create if rows name it' });

const otherOwnerOption = textProperty('Owner for the Others', 'otherOwner', {
	placeholder: 'e.g. ada@acme.example',
	description: 'For owners the CRM does not know',
});

/** The same for all files: a name is looked up, and what it stands for created or assumed, once. */
export const settingsOfAllFiles: INodeProperties[] = [importPreview, createMissingOption, otherOwnerOption];

export const importOptions: INodeProperties[] = [
	createMissingOption,
	otherOwnerOption,
	delimiterOption,
	emptyCells,
	encodingOption,
	valuesInOption,
	refusedValuesOption,
	repeatedRowsOption,
];

/** The user's settings for the file to read. @throws Error in the user's words for an unknown choice */
export function fileSettingsOf(n8n: IExecuteFunctions, item: number): FileSettings {
	const format = chosenOption<FileFormat>(n8n, item, importFormat);
	const encoding = chosenOption<Encoding>(n8n, item, encodingOption, 'options.encoding');
	const delimiter = chosenOption(n8n, item, delimiterOption, 'options.delimiter');
	return { format, encoding, ...(delimiter !== 'auto' && { delimiter }) };
}

/** @throws Error in the user's words if no column is mapped, an expression returns none, or an exception has none or that of another */
export function mappedColumns(n8n: IExecuteFunctions, item: number): MappedColumns {
	if (chosenOption(n8n, item, columnsMode) === 'automatic') return { only: undefined, exceptions: exceptionsOf(n8n, item) };
	const only = new Map(mappedPairs(n8n, item));
	if (only.size > 0) return { only, exceptions: new Map() };
	throw new Error('Columns: no column is mapped. Add those to import, or map them automatically.');
}

function exceptionsOf(n8n: IExecuteFunctions, item: number): Map<string, string | undefined> {
	const rows = n8n.getNodeParameter('columnExceptions.columns', item, []) as Array<{ column?: unknown; field?: unknown }>;
	const exceptions = new Map<string, string | undefined>();
	for (const row of rows) {
		const [column, field] = [String(row.column ?? '').trim(), String(row.field ?? '').trim()];
		if (column === '') throw new Error('Exceptions: the name of a column is empty. Fill it in.');
		if (exceptions.has(column)) throw new Error(`Exceptions: the column “${column}” is there twice. Remove one of them.`);
		exceptions.set(column, field === '' ? undefined : field);
	}
	return exceptions;
}

/** The columns that the user has mapped: all that are imported, or exceptions from automatic mapping. */
export interface MappedColumns {
	/** The field of each column; undefined if it is left out. */
	exceptions: ReadonlyMap<string, string | undefined>;
	/** The column of each field, if no other columns are imported. */
	only: ReadonlyMap<string, string> | undefined;
}

function mappedPairs(n8n: IExecuteFunctions, item: number): Array<[field: string, column: string]> {
	type Mapper = { value?: Record<string, unknown> | null };
	const { value } = n8n.getNodeParameter('columns', item) as Mapper;
	const { value: storedValue } = storedParameter(n8n, 'columns') as Mapper;
	for (const [field, column] of Object.entries(storedValue ?? {})) {
		if (!isExpression(column) || column.slice(1).trim() === '' || String(value?.[field] ?? '').trim() !== '') continue;
		throw new Error(`Columns: the expression of “${field}” returned no column, so nothing was written. Correct or remove it.`);
	}
	return Object.entries(value ?? {})
		.map(([field, column]): [string, string] => [field, String(column ?? '').trim()])
		.filter(([, column]) => column !== '');
}
