import { isExpression, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { parseJson } from '../api/http/json';
import { checkExact } from '../api/http/numbers';
import { readOption } from '../parameters/readers';
import { isBlank } from '../fields/blank';
import { evaluateValues } from './expressions/evaluateValues';
import { locatorValue } from './locator';

/** The values a user gave for the fields, as the workflow stores them: expressions are not evaluated. */
export type Mapping = MappedValues & {
	/** Records picked from lists beside the values, in the order shown. */
	linked: LinkedRecord[];
	/** The names an item has values for; those of an object that cannot be read are left out. */
	namesOf(item: number): string[];
};

type MappedValues =
	/** Each field by hand, without those left blank. */
	| { mode: 'each'; mapped: Array<[name: string, value: unknown]> }
	/** The items' own values. */
	| { mode: 'automatic'; objectOf: ObjectOf; emptyCellsOf(item: number): EmptyCells }
	/** One JSON object, or an expression that gives one. */
	| { mode: 'json'; objectOf: ObjectOf };

/**
 * The object of an item, evaluated once.
 *
 * @throws Error in the user's words where it is not a JSON object
 * @throws NodeOperationError where an expression fails
 */
type ObjectOf = (item: number) => IDataObject;

/** Whether an item's empty value leaves the field as it is, or clears it. */
export type EmptyCells = 'leave' | 'clear';

/** A record that the user picked, and the field that refers to it. */
export interface LinkedRecord {
	/** Name of a Link. */
	field: string;
	/** Its id, or an expression. */
	record: unknown;
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
export function storedMapping(n8n: IExecuteFunctions, parameter: string): Mapping {
	return withNames(valuesIn(n8n, parameter), linkedRecordsIn(n8n, parameter));
}

/** A mapping that takes objects as they are, such as the rows of a file. */
export function automaticMapping(objectOf: ObjectOf, emptyCells: EmptyCells): ObjectMapping {
	return withNames({ mode: 'automatic', objectOf, emptyCellsOf: () => emptyCells }, []);
}

function automaticValues(n8n: IExecuteFunctions): ObjectValues {
	const value = stored(n8n, 'options.emptyCells', 'leave');
	const read = evaluateValues(n8n, [{ label: 'Empty Cells', value }]);
	const items = n8n.getInputData();
	return {
		mode: 'automatic',
		objectOf: (item) => items[item]?.json ?? {},
		emptyCellsOf: (item) => readOption('Empty Cells', read(item)[0], ['leave', 'clear']),
	};
}

function withNames<Values extends MappedValues>(values: Values, linked: LinkedRecord[]) {
	const picked = linked.map(({ field }) => field);
	if (values.mode === 'each') {
		const names = [...values.mapped.map(([name]) => name), ...picked];
		return { ...values, linked, namesOf: () => names };
	}
	const { objectOf } = values;
	const namesOf = (item: number): string[] => {
		try {
			return [...Object.keys(objectOf(item)), ...picked];
		} catch {
			// The item fails with this error when its turn comes.
			return picked;
		}
	};
	return { ...values, linked, namesOf };
}

function valuesIn(n8n: IExecuteFunctions, parameter: string): MappedValues {
	if (modeOf(n8n, parameter) === 'json') {
		return { mode: 'json', objectOf: jsonObjects(n8n, stored(n8n, `${parameter}Json`)) };
	}
	const { mappingMode, value } = mapperOf(n8n, parameter);
	// The second is how n8n's own nodes say it, and so workflows that were not made in the editor.
	const isAutomatic = modeOf(n8n, parameter) === 'automatic' || mappingMode === 'autoMapInputData';
	if (isAutomatic) return automaticValues(n8n);
	const mapped = Object.entries(value ?? {}).filter(([, one]) => !isBlank(one));
	return { mode: 'each', mapped };
}

/** Reads the records picked beside `parameter`. */
export function linkedRecordsIn(n8n: IExecuteFunctions, parameter: string): LinkedRecord[] {
	const rows = stored(n8n, `${parameter}Linked.records`, []) as Array<{ record?: unknown }>;
	return rows.flatMap(({ record: picked }, row) => {
		const record = locatorValue(picked);
		if (isBlank(record)) return [];
		// The field is the same for all items, also where it is an expression.
		const field = n8n.getNodeParameter(`${parameter}Linked.records[${row}].field`, 0, '');
		return [{ field: String(field ?? ''), record }];
	});
}

/** Whether an AI agent's model fills in the value: it answers for every field it is shown. */
export function isFilledByModel(value: unknown): boolean {
	return typeof value === 'string' && /\$fromAI\b/i.test(value);
}

/** A mapping whose values are members of objects. */
export type ObjectMapping = Exclude<Mapping, { mode: 'each' }>;

type ObjectValues = Exclude<MappedValues, { mode: 'each' }>;

function jsonObjects(n8n: IExecuteFunctions, value: unknown): ObjectOf {
	const read = evaluateValues(n8n, [{ label: 'JSON', value }]);
	const evaluated: IDataObject[] = [];
	return (item) => (evaluated[item] ??= jsonObject(read(item)[0], isExpression(value)));
}

/** @param isEvaluated whether an expression gave it: a number put into its text may have lost digits before */
function jsonObject(given: unknown, isEvaluated: boolean): IDataObject {
	const parsed = typeof given === 'string' ? parseJson(given) : given;
	if (isEvaluated && typeof given === 'string' && parsed !== undefined) checkExact('JSON', JSON.parse(given));
	if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
		return parsed as IDataObject;
	}
	const shown = typeof given === 'string' ? given : (JSON.stringify(given) ?? '');
	throw new Error(`JSON: '${shown.slice(0, 200)}' is not an object such as { "name": "value" }`);
}

/** The field the user chose to match on (upsert). */
export interface MatchingColumn {
	/** Whether it is an expression, which may give another field for each item. */
	mayDiffer: boolean;
	/** Undefined if no field is chosen or the expression returns nothing. */
	of(item: number): string | undefined;
}

/** Reads the field to match on. */
export function matchingColumn(n8n: IExecuteFunctions, parameter: string): MatchingColumn {
	const value = stored(n8n, `${parameter}MatchOn`, '') || matchedByMapper(n8n, parameter);
	const read = evaluateValues(n8n, [{ label: 'Match On', value }]);
	return {
		// n8n stores a single equals sign for an expression that was emptied.
		mayDiffer: isExpression(value) && value.slice(1).trim() !== '',
		of: (item) => String(read(item)[0] ?? '').trim() || undefined,
	};
}

/** How n8n's own nodes say it, and so workflows that were not made in the editor. */
function matchedByMapper(n8n: IExecuteFunctions, parameter: string): string {
	return modeOf(n8n, parameter) === 'each' ? (mapperOf(n8n, parameter).matchingColumns?.[0] ?? '') : '';
}

/** `each`, `automatic` or `json`. */
function modeOf(n8n: IExecuteFunctions, parameter: string): 'each' | 'automatic' | 'json' {
	const mode: unknown = n8n.getNodeParameter(`${parameter}Mode`, 0, 'each');
	return readOption('Specify Fields', mode, ['each', 'automatic', 'json']);
}

function mapperOf(n8n: IExecuteFunctions, parameter: string): StoredMapper {
	return stored(n8n, parameter) as StoredMapper;
}

function stored(n8n: IExecuteFunctions, parameter: string, absent: object | string = {}): unknown {
	return n8n.getNodeParameter(parameter, 0, absent, { rawExpressions: true });
}
