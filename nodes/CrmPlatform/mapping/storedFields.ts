import { isExpression, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import type { NodeRun } from '../model';
import { isBlank } from '../values/blank';
import { parseOption } from '../values/parsers';
import { isByName, mayCreate, locatorValue, storedParameter } from './locator';

/** The fields and values in the parameters as stored: no expression is evaluated. */
export type StoredFields = {
	/** Records picked from lists beside the values, in the order shown. */
	linked: StoredLinkedRecord[];
	/** The fields that the mapper matches on, in the notation of n8n's own nodes and of workflows generated outside the editor. */
	matchColumns?: string[];
} & (
	/** A row of the form for each field. A blank row maps nothing, whatever its field, and is left out. */
	| { mode: 'each'; rows: Array<[name: string, value: unknown]> }
	/** The values of the input items. */
	| { mode: 'automatic'; emptyCells: unknown }
	/** A JSON object, or an expression that returns one. */
	| { mode: 'json'; json: unknown }
	/** What a model sends, without a parameter. */
	| { mode: 'model'; values: IDataObject }
);

/** Of an operation without a form for values. */
export const noStoredFields: StoredFields = { linked: [], mode: 'each', rows: [] };

/** A record picked under *Linked Records*, and the name of the link that gets its ID. */
export interface StoredLinkedRecord {
	linkName: string;
	/** Id of the record or, if it may be named, its name; or an expression. */
	value: unknown;
	mayBeName: boolean;
	/** Whether it is certainly a name: of a record that is created if none has it. */
	isNewName: boolean;
}

/** Reads the mapper `parameter`, such as `fields`, and those beside it: `fieldsMode`, `fieldsJson` and `fieldsLinked`. */
export function storedFields({ n8n, modelValues }: Pick<NodeRun, 'n8n' | 'modelValues'>, parameter: string): StoredFields {
	if (modelValues) return { linked: [], mode: 'model', values: modelValues };
	const linked = linkedRecordsIn(n8n, parameter);
	const mode = parseOption('Specify Fields', n8n.getNodeParameter(`${parameter}Mode`, 0, 'each') as unknown, ['each', 'automatic', 'json']);
	if (mode === 'json') return { linked, mode, json: storedParameter(n8n, `${parameter}Json`) };
	const emptyCells = storedParameter(n8n, 'options.emptyCells', 'leave');
	if (mode === 'automatic') return { linked, mode, emptyCells };
	type StoredMapper = { mappingMode?: string; value?: Record<string, unknown> | null; matchingColumns?: string[] | null };
	const { mappingMode, value, matchingColumns } = storedParameter(n8n, parameter) as StoredMapper;
	const matchColumns = [...new Set([matchingColumns ?? []].flat())];
	// n8n's own nodes use this form, and so do workflows generated outside the editor.
	if (mappingMode === 'autoMapInputData') return { linked, matchColumns, mode: 'automatic', emptyCells };
	return { linked, matchColumns, mode, rows: Object.entries(value ?? {}).filter(([, fieldValue]) => !isBlank(fieldValue)) };
}

/** Reads the records that the user picked beside `parameter`. @throws Error in the user's words if a record has no field */
function linkedRecordsIn(n8n: IExecuteFunctions, parameter: string): StoredLinkedRecord[] {
	const rows = storedParameter(n8n, `${parameter}Linked.records`, []) as Array<{ field?: unknown; record?: unknown }>;
	return rows.flatMap(({ field: linkName = '', record: locator }) => {
		const value = locatorValue(locator);
		if (isBlank(value)) return [];
		if (isBlank(linkName)) throw new Error('Linked Records: choose a field for the selected record.');
		if (isExpression(linkName)) throw new Error('Linked Records: the field cannot be an expression. Choose it from the list, or map the values instead.');
		return [{ linkName: String(linkName), value, mayBeName: isByName(locator), isNewName: mayCreate(locator) }];
	});
}
