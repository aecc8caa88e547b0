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
			description: 'Each column goes into the field with its name, its label or a usual name in other systems',
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
	{
		displayName: 'Exceptions',
		name: 'columnExceptions',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Column',
		default: {},
		displayOptions: { show: { columnsMode: ['automatic'] } },
		description: 'Columns that go into another field than the automatic one, or nowhere. Preview shows where each column goes.',
		options: [
			{
				displayName: 'Column',
				name: 'columns',
				values: [
					{ displayName: 'Column', name: 'column', type: 'string', default: '', description: 'Its name in the header of the file' },
					{
						displayName: 'Field Name or ID',
						name: 'field',
						type: 'options',
						typeOptions: { loadOptionsMethod: 'getColumnOptions', loadOptionsDependsOn: [...fieldsDependOn, 'importAs'] },
						default: '',
						description:
							'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
					},
				],
			},
		],
	},
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
 * The columns that the user has mapped.
 *
 * @throws Error in the user's words if a column has no field, if a field has two columns, or if no column is mapped
 */
export function mappedColumns(n8n: IExecuteFunctions, item: number): MappedColumns {
	const mode = chosenOption(n8n, item, columnsMode);
	if (mode === 'automatic') return { only: undefined, exceptions: exceptionsOf(n8n, item) };
	const only = new Map<string, string>();
	for (const [column, field] of mode === 'json' ? jsonPairs(n8n, item) : mappedPairs(n8n, item)) {
		if (column === '' || field === '') throw new Error('Columns: a column or its field is empty. Fill in both.');
		if (only.has(field)) throw twoColumns('Columns', field);
		only.set(field, column);
	}
	if (only.size > 0) return { only, exceptions: new Map() };
	throw new Error('Columns: no column is mapped. Add those to import, or map them automatically.');
}

function exceptionsOf(n8n: IExecuteFunctions, item: number): Map<string, string | undefined> {
	const rows = n8n.getNodeParameter('columnExceptions.columns', item, []) as Array<{ column?: unknown; field?: unknown }>;
	const exceptions = new Map<string, string | undefined>();
	for (const row of rows) {
		const [column, field] = [row.column, row.field].map((value) => String(value ?? '').trim());
		if (column === '' || column === undefined) throw new Error('Exceptions: the name of a column is empty. Fill it in.');
		if (exceptions.has(column)) throw new Error(`Exceptions: the column “${column}” is there twice. Remove one of them.`);
		if (field !== '' && [...exceptions.values()].includes(field)) throw twoColumns('Exceptions', field!);
		exceptions.set(column, field === '' ? undefined : field);
	}
	return exceptions;
}

const twoColumns = (parameter: string, field: string): Error => new Error(`${parameter}: two columns go into “${field}”. Remove one of them.`);

/** The columns that the user has mapped: all that are imported, or exceptions from automatic mapping. */
export interface MappedColumns {
	/** The field of each column; undefined if it is left out. */
	exceptions: ReadonlyMap<string, string | undefined>;
	/** The column of each field, if no other columns are imported. */
	only: ReadonlyMap<string, string> | undefined;
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
