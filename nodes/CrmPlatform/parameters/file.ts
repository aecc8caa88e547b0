import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { fileFormats, type FileFormat, type FileSettings } from '../files/rows';
import { encodings, type Encoding } from '../files/text';
import { parseJson } from '../api/http/json';

export const binaryFieldProperty: INodeProperties = {
	displayName: 'Input Binary Field',
	name: 'binaryField',
	type: 'string',
	default: 'data',
	required: true,
	hint: 'The name of the input field that holds the file',
};

export const importProperties: INodeProperties[] = [
	{
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
	},
	{
		displayName: 'Match On Name or ID',
		name: 'matchOn',
		type: 'options',
		typeOptions: { loadOptionsMethod: 'getMatchFields', loadOptionsDependsOn: ['resource'] },
		displayOptions: { show: { importAs: ['upsert'] } },
		default: '',
		description:
			'The field that tells whether the record exists already; the first one if left empty. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
	},
	{
		displayName: 'File Format',
		name: 'fileFormat',
		type: 'options',
		options: [
			{ name: 'CSV', value: 'csv', description: 'The first row names the columns' },
			{ name: 'JSON Array', value: 'json', description: 'One list of records' },
			{ name: 'NDJSON', value: 'ndjson', description: 'One record a line' },
		],
		default: 'csv',
	},
	{
		displayName: 'Map Columns',
		name: 'columnsMode',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Automatically',
				value: 'automatic',
				description: 'Each column goes into the field with its name or label',
			},
			{ name: 'By Hand', value: 'each', description: 'Choose the columns, and the field of each' },
			{ name: 'Using JSON', value: 'json', description: 'An object of columns and their fields' },
		],
		default: 'automatic',
	},
	{
		displayName: 'Columns',
		name: 'columns',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Column',
		displayOptions: { show: { columnsMode: ['each'] } },
		default: {},
		description: 'Columns that are not listed here are not sent',
		options: [
			{
				displayName: 'Column',
				name: 'mapped',
				values: [
					{
						displayName: 'Column',
						name: 'column',
						type: 'string',
						default: '',
						description: 'As the header of the file names it',
					},
					{
						displayName: 'Field',
						name: 'field',
						type: 'string',
						default: '',
						description: 'The name or label of the field, such as email or First Name',
					},
				],
			},
		],
	},
	{
		displayName: 'Columns (JSON)',
		name: 'columnsJson',
		type: 'json',
		displayOptions: { show: { columnsMode: ['json'] } },
		default: '{}',
		description:
			'An object of columns and the names or labels of their fields, such as { "E-Mail": "email" }. Columns that are not in it are not sent.',
	},
	{
		displayName: 'Trial',
		name: 'trial',
		type: 'boolean',
		default: false,
		description:
			'Whether to read the first rows only and write nothing, to see what would be sent and which rows the node would refuse',
	},
	{
		displayName: 'Rows of the Trial',
		name: 'trialRows',
		type: 'number',
		typeOptions: { minValue: 1 },
		displayOptions: { show: { trial: [true] } },
		default: 100,
	},
];

export const importOptions: INodeProperties[] = [
	{
		displayName: 'Delimiter',
		name: 'delimiter',
		type: 'options',
		options: [
			{ name: 'Comma', value: ',' },
			{ name: 'Pipe', value: '|' },
			{ name: 'Recognise', value: 'auto' },
			{ name: 'Semicolon', value: ';' },
			{ name: 'Tab', value: '\t' },
		],
		default: 'auto',
		description: 'What stands between the cells of a CSV file',
	},
	{
		displayName: 'Empty Cells',
		name: 'emptyCells',
		type: 'options',
		options: [
			{ name: 'Clear the Field', value: 'clear', description: 'Erase the value in the record' },
			{ name: 'Leave the Field Unchanged', value: 'leave', description: 'Keep the value in the record' },
		],
		default: 'leave',
		description: 'What an empty cell does to a record that exists already',
	},
	{
		displayName: 'Encoding',
		name: 'encoding',
		type: 'options',
		options: [
			{ name: 'By Its Byte-Order Mark, Else UTF-8', value: 'auto' },
			{ name: 'UTF-16 (Big Endian)', value: 'utf-16be' },
			{ name: 'UTF-16 (Little Endian)', value: 'utf-16le' },
			{ name: 'UTF-8', value: 'utf-8' },
			{ name: 'Windows-1252', value: 'windows-1252' },
		],
		default: 'auto',
	},
];

/** What the user says of the file to read. @throws Error in the user's words for an unknown choice */
export function fileSettingsOf(n8n: IExecuteFunctions, item: number): FileSettings {
	const format = n8n.getNodeParameter('fileFormat', item, 'csv') as FileFormat;
	const encoding = n8n.getNodeParameter('options.encoding', item, 'auto') as Encoding;
	const delimiter = String(n8n.getNodeParameter('options.delimiter', item, 'auto'));
	if (!fileFormats.includes(format)) throw noChoice('File Format', format, fileFormats);
	if (!encodings.includes(encoding)) throw noChoice('Encoding', encoding, encodings);
	if (delimiter === 'auto') return { format, encoding };
	if (delimiter.length === 1 && !/["\r\n]/.test(delimiter)) return { format, encoding, delimiter };
	throw noChoice('Delimiter', delimiter, ['auto', ',', ';', '|', 'a tab']);
}

export function noChoice(label: string, given: unknown, choices: readonly string[]): Error {
	return new Error(`${label}: '${String(given)}' is not one of ${choices.join(', ')}.`);
}

/**
 * The fields that columns go into, by column; undefined where they are mapped automatically.
 *
 * @throws Error in the user's words where a column has no field, or two, or no column is mapped
 */
export function columnMapping(n8n: IExecuteFunctions, item: number): Map<string, string> | undefined {
	const mode: unknown = n8n.getNodeParameter('columnsMode', item, 'automatic');
	if (mode === 'automatic') return undefined;
	const pairs = mode === 'json' ? jsonPairs(n8n, item) : listedPairs(n8n, item);
	const mapping = new Map<string, string>();
	const fields = new Set<string>();
	for (const [column, field] of pairs) {
		if (column === '' || field === '') throw new Error('Columns: a column or its field is empty. Fill in both.');
		if (mapping.has(column)) throw new Error(`Columns: ‘${column}’ is mapped twice. Remove one of them.`);
		if (fields.has(field)) throw new Error(`Columns: two columns go into ‘${field}’. Remove one of them.`);
		mapping.set(column, field);
		fields.add(field);
	}
	if (mapping.size > 0) return mapping;
	throw new Error('Columns: no column is mapped. Add those to import, or map them automatically.');
}

function listedPairs(n8n: IExecuteFunctions, item: number): Array<[string, string]> {
	const rows = n8n.getNodeParameter('columns.mapped', item, []) as Array<{ column?: unknown; field?: unknown }>;
	return rows.map(({ column, field }) => [String(column ?? '').trim(), String(field ?? '').trim()]);
}

function jsonPairs(n8n: IExecuteFunctions, item: number): Array<[string, string]> {
	const given: unknown = n8n.getNodeParameter('columnsJson', item, '{}');
	const parsed = typeof given === 'string' ? parseJson(given) : given;
	const pairs = typeof parsed === 'object' && parsed && !Array.isArray(parsed) ? Object.entries(parsed) : undefined;
	if (pairs?.every((pair): pair is [string, string] => typeof pair[1] === 'string')) {
		return pairs.map(([column, field]) => [column.trim(), field.trim()]);
	}
	throw new Error('Columns (JSON): give an object such as { "E-Mail": "email", "Surname": "last_name" }.');
}
