import { isExpression, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';

import { storedParameter } from '../mapping/locator';
import { choiceProperty, chosenOption, listedChoice, rowsProperty, textProperty } from './properties';
import { mapperProperty, missingFieldsNotice } from './fieldParameters';
import { fieldsDependOn } from './recordParameters';

const columnsMode = choiceProperty('Map Columns', 'columnsMode', 'automatic', [
	['Map Automatically', 'automatic', 'Each column goes into the field with its name, its label or a usual name in other systems'],
	['Map Each Field', 'each', 'Enter the column of each field in a form'],
]);

const columns = mapperProperty(
	{
		displayName: 'Columns',
		name: 'columns',
		description:
			'The column of each field. Other columns are not sent.',
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
				listedChoice({ displayName: 'Field Name or ID', name: 'field' }, 'getColumnOptions', [...fieldsDependOn, 'importAs']),
			],
		},
	),
	missingFieldsNotice('columns', { columnsMode: ['each'] }),
	{
		...columns,
		typeOptions: { ...columns.typeOptions, loadOptionsDependsOn: [...fieldsDependOn, 'importAs'] },
		displayOptions: { show: { columnsMode: ['each'] } },
	},
];

/**
 * The columns that the user has mapped.
 *
 * @throws Error in the user's words if an expression returns no column, if a field has two columns, or if none is mapped
 */
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
		const [column, field] = [row.column, row.field].map((value) => String(value ?? '').trim());
		if (column === '' || column === undefined) throw new Error('Exceptions: the name of a column is empty. Fill it in.');
		if (exceptions.has(column)) throw new Error(`Exceptions: the column “${column}” is there twice. Remove one of them.`);
		if (field !== '' && [...exceptions.values()].includes(field)) throw new Error(`Exceptions: two columns go into “${field}”. Remove one of them.`);
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

/** The column of each field. */
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
