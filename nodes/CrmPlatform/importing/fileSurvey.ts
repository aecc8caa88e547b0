import type { IExecuteFunctions, IDataObject } from 'n8n-workflow';

import { customFieldOf } from '../api/customFields';
import { getOrCreate } from '../base/maps';
import { valueToSend } from '../fields/convertValue';
import { type Field, FieldError, fieldErrorOr } from '../fields/field';
import { elementOf } from '../fields/fieldKinds';
import { inApiNotation, type Notations } from '../fields/notations';
import type { FileRecords } from '../files/rows';
import { chosenNotations } from '../mapping/chosenNotations';
import { addToColumns, columnNamed, type Column } from '../mapping/columns';
import { isBlank } from '../values/blank';
import { chosenToCreate } from './importPlan';

export interface FileSurvey {
	rows: number;
	readable: number;
	/** The names of the columns of CSV. */
	header: string[] | undefined;
	repeated: FileRecords['repeated'];
	columns: Column[];
	/** The values of columns, if fields or choices are created. */
	values: ReadonlyMap<string, ColumnValues>;
}

/**
 * Reads a file to its end, and closes it.
 *
 * @throws Error in the user's words if it cannot be read to its end, before any row is written
 */
export async function surveyFile(n8n: IExecuteFunctions, { columns: header, repeated, rows, close }: FileRecords): Promise<FileSurvey> {
	let [all, readable] = [0, 0];
	const columns = new Map<string, Column>();
	const values = new Map<string, ColumnValues>();
	try {
		const needsValues = chosenToCreate(n8n).some((choice) => choice === 'customFields' || choice === 'choices');
		const conversion = cellConversion(n8n);
		header?.forEach((name) => columnNamed(columns, name));
		for await (const read of rows) {
			all += read.length;
			for (const { row, content } of read) {
				if (!content) continue;
				readable += 1;
				addToColumns(columns, row, content);
				if (needsValues) addColumnValues(values, content, conversion);
			}
		}
	} finally {
		await close();
	}
	return { rows: all, readable, header, repeated, columns: [...columns.values()], values };
}

/** How the values of columns are read. A number is one even if it is unclear which one: its row is refused. */
export const cellConversion = (n8n: IExecuteFunctions): { notations: Notations; zone: string } =>
	({ notations: chosenNotations(n8n) ?? {}, zone: n8n.getTimezone() });

export type CellConversion = ReturnType<typeof cellConversion>;

/** A type of new custom fields, and how its values look. */
interface FieldType {
	type: string;
	label: string;
	values: RegExp;
}

export const longText: FieldType = { type: 'long_text', label: 'Long Text', values: /^/ };

/** The narrowest first. */
const fieldTypes: FieldType[] = [
	{ type: 'boolean', label: 'Boolean', values: /^(true|false)$/i },
	// Leading zeros, and more digits than a number has, are those of a key.
	{ type: 'number', label: 'Number', values: /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/ },
	{ type: 'date', label: 'Date', values: /^\d{4}-\d\d-\d\d$/ },
	{ type: 'datetime', label: 'Date and Time', values: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/ },
	{ type: 'text', label: 'Text', values: /^.{1,255}$/ },
	longText,
];

export interface ColumnValues {
	/** The types that take all values of the column. */
	types?: FieldType[];
	/** Its different values, as JSON. */
	texts: Set<string>;
}

/** Maximum number of values that become choices. */
const maxValues = 500;

function addColumnValues(columns: Map<string, ColumnValues>, content: IDataObject, conversion: CellConversion): void {
	for (const [name, value] of Object.entries(content)) {
		if (isBlank(value)) continue;
		const column = getOrCreate(columns, name, (): ColumnValues => ({ texts: new Set() }));
		const fitting = (column.types ?? fieldTypes).filter((type) => isOfType(type, value, conversion));
		// A value that no type takes is refused with its row, and says nothing about the others.
		if (fitting.length > 0) column.types = fitting;
		if (column.texts.size < maxValues) column.texts.add(JSON.stringify(value));
	}
}

/** Whether a value looks like one of a type, and a field of that type takes it. */
function isOfType({ type, values }: FieldType, value: unknown, conversion: CellConversion): boolean {
	const field = customFieldOf({ key: 'new', type });
	const isTaken = fieldErrorOr(() => {
		const plain = inApiNotation(field, value, conversion.notations);
		return values.test(String(plain)) && valueToSend(field, plain, conversion) !== undefined;
	});
	return isTaken === true;
}

/** Maximum characters of a choice. A row with a longer one is refused. */
const maxChoiceLength = 100;

/** The choices that a column has and its field does not, as its rows will be read. Commas separate choices in lists, so none has any. */
export function newChoices(field: Field, { texts }: ColumnValues, conversion: CellConversion): NonNullable<Field['choices']> {
	const read = (value: unknown) => fieldErrorOr(() => valueToSend(field, inApiNotation(field, value, conversion.notations), conversion));
	const values = [...texts].flatMap((text) => read(JSON.parse(text)));
	const choices = [...(field.choices ?? [])];
	const existing = choices.length;
	for (const value of values) {
		const text = value instanceof FieldError ? '' : String(value).trim();
		if (text === '' || text.length > maxChoiceLength || text.includes(',')) continue;
		const choice = fieldErrorOr(() => valueToSend({ ...elementOf(field), choices }, text, conversion));
		if (!choices.some((other) => other.value === choice)) choices.push({ label: text, value: text });
	}
	return choices.slice(existing);
}
