import { isExpression, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';

import { parsedValue } from '../base/json';
import { storedParameter } from '../mapping/storedParameter';
import { chosenOption } from './optionText';
import { mapperProperty, missingFieldsNotice } from './fieldParameters';
import { fieldsDependOn } from './recordParameters';

const columnsMode: INodeProperties = {
	displayName: 'Map Columns',
	name: 'columnsMode',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Map Automatically',
			value: 'automatic',
			description: 'Each column goes into the field with its name or label',
		},
		{ name: 'Map Each Field', value: 'each', description: 'Enter the column of each field in a form' },
		{ name: 'Using JSON', value: 'json', description: 'Enter a JSON object of column names and field names' },
	],
	default: 'automatic',
};

const columns = mapperProperty(
	{
		displayName: 'Columns',
		name: 'columns',
		description:
			'The column for each field, as named in the header of the file. Columns that are not named here are not sent.',
	},
	{
		resourceMapperMethod: 'getColumnFields',
		valuesLabel: 'Columns',
		fieldWords: { singular: 'field', plural: 'fields' },
		multiKeyMatch: false,
		supportAutoMap: false,
	},
);

/** Which column of a file goes into which field. */
export const columnProperties: INodeProperties[] = [
	columnsMode,
	missingFieldsNotice('columns', { columnsMode: ['each'] }),
	{
		...columns,
		typeOptions: { ...columns.typeOptions, loadOptionsDependsOn: [...fieldsDependOn, 'importAs'] },
		displayOptions: { show: { columnsMode: ['each'] } },
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
];

/**
 * The column of each field; undefined with automatic mapping.
 *
 * @throws Error in the user's words if a column has no field, if a field has two columns, or if no column is mapped
 */
export function columnMapping(n8n: IExecuteFunctions, item: number): Map<string, string> | undefined {
	const mode = chosenOption(n8n, item, columnsMode);
	if (mode === 'automatic') return undefined;
	const mapping = new Map<string, string>();
	for (const [column, field] of mode === 'json' ? jsonPairs(n8n, item) : mappedPairs(n8n, item)) {
		if (column === '' || field === '') throw new Error('Columns: a column or its field is empty. Fill in both.');
		if (mapping.has(field)) throw new Error(`Columns: two columns go into “${field}”. Remove one of them.`);
		mapping.set(field, column);
	}
	if (mapping.size > 0) return mapping;
	throw new Error('Columns: no column is mapped. Add those to import, or map them automatically.');
}

type Pair = [column: string, field: string];

function mappedPairs(n8n: IExecuteFunctions, item: number): Pair[] {
	type Mapper = { value?: Record<string, unknown> | null };
	const { value } = n8n.getNodeParameter('columns', item) as Mapper;
	const { value: storedValue } = storedParameter(n8n, 'columns') as Mapper;
	for (const [field, column] of Object.entries(storedValue ?? {})) {
		if (!isExpression(column) || column.slice(1).trim() === '' || String(value?.[field] ?? '').trim() !== '') continue;
		throw new Error(`Columns: the expression of “${field}” returned no column, so nothing was written. Correct or remove it.`);
	}
	return Object.entries(value ?? {})
		.map(([field, column]): Pair => [String(column ?? '').trim(), field])
		.filter(([column]) => column !== '');
}

function jsonPairs(n8n: IExecuteFunctions, item: number): Pair[] {
	const value: unknown = n8n.getNodeParameter('columnsJson', item, '{}');
	const parsed = parsedValue(value);
	const pairs = typeof parsed === 'object' && parsed && !Array.isArray(parsed) ? Object.entries(parsed) : undefined;
	if (pairs?.every((pair): pair is Pair => typeof pair[1] === 'string')) {
		return pairs.map(([column, field]) => [column.trim(), field.trim()]);
	}
	throw new Error('Columns (JSON): enter an object such as { "E-Mail": "email", "Surname": "last_name" }.');
}
