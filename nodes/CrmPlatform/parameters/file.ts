import type { IExecuteFunctions, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { FileFormat, FileSettings } from '../files/rows';
import type { Encoding } from '../files/text';
import { pairsIn } from '../mapping/chosenNotations';
import type { Resource } from '../model';
import { chosenOption } from './optionText';
import { columnProperties } from './columns';
import { emptyCells, valuesInOption, matchOnDescription, matchOnProperty } from './fieldParameters';

export const binaryFieldProperty: INodeProperties = {
	displayName: 'Input Binary Field',
	name: 'binaryField',
	type: 'string',
	default: 'data',
	required: true,
	hint: 'The name of the input field that has the file. If the item has a single file, it is used whatever its name.',
};

const fileFormats: Array<INodePropertyOptions & { value: FileFormat }> = [
	{ name: 'CSV', value: 'csv', description: 'A table whose first row names the columns' },
	{ name: 'JSON Array', value: 'json', description: 'One list of records' },
	{ name: 'NDJSON', value: 'ndjson', description: 'One record per line' },
];

/** The choice between some formats of files. */
export const fileFormatProperty = (formats: FileFormat[], description?: string): INodeProperties => ({
	displayName: 'File Format',
	name: 'fileFormat',
	type: 'options',
	noDataExpression: true,
	options: fileFormats.filter(({ value }) => formats.includes(value)),
	default: 'csv',
	...(description !== undefined && { description }),
});

const importFormat = fileFormatProperty(['csv', 'json', 'ndjson']);

export const importAsProperty: INodeProperties = {
	displayName: 'What to Do',
	name: 'importAs',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Create', value: 'create', description: 'Each row becomes a new record' },
		{
			name: 'Create or Update',
			value: 'upsert',
			description: 'Create a new record, or update the current one if it already exists (upsert)',
		},
		{ name: 'Delete', value: 'delete', description: 'Each row deletes the record with its ID' },
		{ name: 'Update', value: 'update', description: 'Each row updates the record with its ID' },
	],
	default: 'create',
};

const sourceProperty: INodeProperties = {
	displayName: 'Source Name',
	name: 'sourceName',
	type: 'string',
	noDataExpression: true,
	default: '',
	placeholder: 'e.g. hubspot',
	description: 'The system of the file: its ID 9001 becomes the External ID hubspot:9001, also in links',
};

/** The form for the files of another system. */
export const relatedFilesProperties = (recordTypes: Resource[]): INodeProperties[] => [
	{ ...sourceProperty, required: true },
	{
		displayName: 'Files',
		name: 'files',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add File',
		default: {},
		description: 'Corrections of what Preview shows',
		options: [
			{
				displayName: 'File',
				name: 'files',
				values: [
					{ displayName: 'File Name', name: 'file', type: 'string', default: '', placeholder: 'e.g. people.csv' },
					{
						displayName: 'Record Type',
						name: 'kind',
						type: 'options',
						noDataExpression: true,
						options: [
							{ name: 'By Its Name and Columns', value: '' },
							{ name: 'Do Not Import', value: 'none' },
							...recordTypes.filter(({ parents }) => !parents).map(({ name, value }) => ({ name, value })),
						].sort((a, b) => (a.name < b.name ? -1 : 1)),
						default: '',
					},
					{
						displayName: 'Exceptions',
						name: 'columns',
						type: 'string',
						typeOptions: { rows: 3 },
						default: '',
						placeholder: 'e.g. Mobile → phone',
						hint: 'One pair a line: column → field, or nothing to leave it out',
					},
				],
			},
		],
	},
	previewProperty,
];

export interface ChosenFile {
	/** The value of its record type; empty if the user leaves that to the node, `none` to leave the file out. */
	kind: string;
	columns: Map<string, string | undefined>;
}

/** What the user has chosen for files, by their names. @throws Error in the user's words */
export function chosenFiles(n8n: IExecuteFunctions): Map<string, ChosenFile> {
	const rows = n8n.getNodeParameter('files.files', 0, []) as Array<{ file?: unknown; kind?: unknown; columns?: unknown }>;
	return new Map(
		rows.map(({ file, kind, columns }) => {
			const pairs = pairsIn('Files → Exceptions', columns, 'Mobile → phone', true);
			return [String(file ?? '').trim(), { kind: String(kind ?? ''), columns: new Map(pairs.map(([column, field]) => [column, field === '' ? undefined : field])) }];
		}),
	);
}

const previewProperty: INodeProperties = {
	displayName: 'Preview',
	name: 'preview',
	type: 'boolean',
	default: true,
	description:
		'Whether to only read and check the file, without writing anything, to see what would be sent and which rows would be refused',
};

export const importProperties: INodeProperties[] = [
	binaryFieldProperty,
	importAsProperty,
	matchOnProperty({ name: 'matchOn', displayOptions: { show: { importAs: ['upsert'] } } }, matchOnDescription),
	sourceProperty,
	importFormat,
	...columnProperties,
	previewProperty,
];

/** In an export, automatic is what spreadsheets of the region expect. */
export const delimiterOption: INodeProperties = {
	displayName: 'Delimiter',
	name: 'delimiter',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Automatic', value: 'auto' },
		{ name: 'Comma', value: ',' },
		{ name: 'Pipe', value: '|' },
		{ name: 'Semicolon', value: ';' },
		{ name: 'Tab', value: '\t' },
	],
	default: 'auto',
};

const encodingOption: INodeProperties = {
	displayName: 'Encoding',
	name: 'encoding',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Automatic (BOM, Otherwise UTF-8)', value: 'auto' },
		{ name: 'UTF-16 (Big Endian)', value: 'utf-16be' },
		{ name: 'UTF-16 (Little Endian)', value: 'utf-16le' },
		{ name: 'UTF-8', value: 'utf-8' },
		{ name: 'Windows-1252', value: 'windows-1252' },
	],
	default: 'auto',
};

export const refusedValuesOption: INodeProperties = {
	displayName: 'Refused Values',
	name: 'refusedValues',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Leave the Value Out', value: 'leaveOut', description: 'Write the rest of the row. The file “left_out” has the values.' },
		{ name: 'Refuse the Row', value: 'refuse', description: 'The file “failed” has the rows with all reasons' },
	],
	default: 'refuse',
};

export const repeatedRowsOption: INodeProperties = {
	displayName: 'Rows of One Record',
	name: 'repeatedRows',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Last One Wins', value: 'lastWins' },
		{ name: 'Refuse All but the First', value: 'refuse' },
	],
	default: 'lastWins',
	description: 'Rows with the same ID or value to match on',
};

const createMissingOption: INodeProperties = {
	displayName: 'Create What Is Missing',
	name: 'createMissing',
	type: 'multiOptions',
	noDataExpression: true,
	options: [
		{ name: 'Choices of Custom Fields', value: 'choices' },
		{ name: 'Companies', value: 'companies' },
		{ name: 'Custom Fields', value: 'customFields' },
		{ name: 'Pipelines and Stages', value: 'pipelines' },
		{ name: 'Tags', value: 'tags' },
	],
	default: [],
	description: 'What to create if rows name it',
};

const otherOwnerOption: INodeProperties = {
	displayName: 'Owner for the Others',
	name: 'otherOwner',
	type: 'string',
	default: '',
	placeholder: 'e.g. ada@acme.example',
	description: 'For owners the CRM does not know',
};

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
