import type { IExecuteFunctions } from 'n8n-workflow';

import { isBlank } from '../values/blank';
import { readOption } from '../values/readers';
import { isByName, locatorValue } from './locator';
import { storedParameter } from './storedParameter';

/** The fields and values in the parameters as stored: no expression is evaluated. */
export type StoredFields = {
	/** Records picked from lists beside the values, in the order shown. */
	linked: StoredLinkedRecord[];
} & (
	/** A row of the form for each field. A blank row maps nothing, whatever its field, and is left out. */
	| { mode: 'each'; rows: Array<[name: string, value: unknown]> }
	/** The values of the input items. */
	| { mode: 'automatic'; emptyCells: unknown }
	/** A JSON object, or an expression that returns one. */
	| { mode: 'json'; json: unknown }
);

/** A record picked under *Linked Records*, and the link that gets its ID, both as stored. */
export interface StoredLinkedRecord {
	/** The name of the link, or an expression. */
	linkName: unknown;
	/** Id of the record or, if it may be named, its name; or an expression. */
	record: unknown;
	mayBeName: boolean;
}

/** The value of n8n's resource mapper. */
interface StoredMapper {
	mappingMode?: string;
	value?: Record<string, unknown> | null;
	matchingColumns?: string[];
}

/**
 * Reads the mapper `parameter` (such as `fields`), and the parameters beside it: `fieldsMode`,
 * `fieldsJson` and `fieldsLinked`.
 */
export function storedFields(n8n: IExecuteFunctions, parameter: string): StoredFields {
	const linked = linkedRecordsIn(n8n, parameter);
	const mode = modeOf(n8n, parameter);
	if (mode === 'json') return { linked, mode, json: storedParameter(n8n, `${parameter}Json`) };
	const { mappingMode, value } = mapperOf(n8n, parameter);
	// n8n's own nodes use the second form, and so do workflows generated outside the editor.
	if (mode === 'automatic' || mappingMode === 'autoMapInputData') {
		return { linked, mode: 'automatic', emptyCells: storedParameter(n8n, 'options.emptyCells', 'leave') };
	}
	return { linked, mode, rows: Object.entries(value ?? {}).filter(([, fieldValue]) => !isBlank(fieldValue)) };
}

/** Reads the records that the user picked beside `parameter`. */
function linkedRecordsIn(n8n: IExecuteFunctions, parameter: string): StoredLinkedRecord[] {
	const rows = storedParameter(n8n, `${parameter}Linked.records`, []) as Array<{ field?: unknown; record?: unknown }>;
	return rows.flatMap(({ field: linkName = '', record: locator }) => {
		const record = locatorValue(locator);
		if (isBlank(record)) return [];
		return [{ linkName, record, mayBeName: isByName(locator) }];
	});
}

/** The field that a mapper matches on, in the notation of n8n's own nodes and of workflows generated outside the editor. */
export function matchedByMapper(n8n: IExecuteFunctions, parameter: string): string {
	return modeOf(n8n, parameter) === 'each' ? (mapperOf(n8n, parameter).matchingColumns?.[0] ?? '') : '';
}

function modeOf(n8n: IExecuteFunctions, parameter: string): 'each' | 'automatic' | 'json' {
	const mode: unknown = n8n.getNodeParameter(`${parameter}Mode`, 0, 'each');
	return readOption('Specify Fields', mode, ['each', 'automatic', 'json']);
}

function mapperOf(n8n: IExecuteFunctions, parameter: string): StoredMapper {
	return storedParameter(n8n, parameter) as StoredMapper;
}
