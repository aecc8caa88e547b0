import type { IExecuteFunctions } from 'n8n-workflow';

import type { FileRecords } from '../files/rows';
import { addToColumns, columnNamed, type Column } from '../mapping/columns';
import { addColumnValues, cellConversion, type ColumnValues } from './columnValues';
import { chosenToCreate } from './importCreator';

/** The number of rows of a file, its header, and its columns. */
export interface FileSurvey {
	rows: number;
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
 * @throws Error in the user's words if it cannot be read to its end or has no rows, before any is written
 */
export async function surveyFile(n8n: IExecuteFunctions, { columns: header, repeated, rows, close }: FileRecords): Promise<FileSurvey> {
	let count = 0;
	const columns = new Map<string, Column>();
	const values = new Map<string, ColumnValues>();
	try {
		const needsValues = chosenToCreate(n8n).some((choice) => choice === 'customFields' || choice === 'choices');
		const conversion = cellConversion(n8n);
		header?.forEach((name) => columnNamed(columns, name));
		for await (const read of rows) {
			count += read.length;
			for (const { row, content = {} } of read) {
				addToColumns(columns, row, content);
				if (needsValues) addColumnValues(values, content, conversion);
			}
		}
	} finally {
		await close();
	}
	if (count === 0) throw new Error('The file has no records. Nothing was written.');
	return { rows: count, header, repeated, columns: [...columns.values()], values };
}
