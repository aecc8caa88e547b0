import { isExpression, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { parseJson } from '../api/http/json';
import { evaluateValues } from './expressions';
import { locatorValue } from './locator';

/** The values a user gave for the fields, as the workflow stores them: expressions are not evaluated. */
export type Mapping = MappedValues & {
	/** Records picked from lists beside the values, in the order shown. */
	linked: LinkedRecord[];
};

type MappedValues =
	/** Each field by hand, without those left blank. */
	| { mode: 'each'; mapped: Array<[name: string, value: unknown]> }
	/** The items' own values. */
	| { mode: 'automatic'; objectOf: ObjectOf; emptyCells: EmptyCells }
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
interface Mapper {
	mappingMode?: string;
	value?: Record<string, unknown> | null;
	matchingColumns?: string[];
}

/**
 * Reads the mapper `parameter` (such as `fields`), and the parameters beside it: `fieldsMode`,
 * `fieldsJson` and `fieldsLinked`.
 */
export function storedMapping(n8n: IExecuteFunctions, parameter: string): Mapping {
	return { ...valuesIn(n8n, parameter), linked: linkedIn(n8n, parameter) };
}

/** A mapping that takes the items as they are. */
export function automaticMapping(n8n: IExecuteFunctions): Mapping & ObjectMapping {
	const stored: unknown = n8n.getNodeParameter('options.emptyCells', 0, 'leave');
	const emptyCells = stored === 'clear' ? 'clear' : 'leave';
	const items = n8n.getInputData();
	return { mode: 'automatic', objectOf: (item) => items[item]?.json ?? {}, emptyCells, linked: [] };
}

function valuesIn(n8n: IExecuteFunctions, parameter: string): MappedValues {
	if (modeOf(n8n, parameter) === 'json') {
		return { mode: 'json', objectOf: jsonObjects(n8n, stored(n8n, `${parameter}Json`)) };
	}
	const { mappingMode, value } = mapperOf(n8n, parameter);
	// The second is how n8n's own nodes say it, and so workflows that were not made in the editor.
	const isAutomatic = modeOf(n8n, parameter) === 'automatic' || mappingMode === 'autoMapInputData';
	if (isAutomatic) return automaticMapping(n8n);
	const mapped = Object.entries(value ?? {}).filter(
		([, one]) => one !== null && one !== undefined && one !== '',
	);
	return { mode: 'each', mapped };
}

function linkedIn(n8n: IExecuteFunctions, parameter: string): LinkedRecord[] {
	const rows = stored(n8n, `${parameter}Linked.records`, []) as Array<{ record?: unknown }>;
	return rows.flatMap(({ record: picked }, row) => {
		const record = locatorValue(picked);
		if (record === undefined || record === null || record === '') return [];
		// The field is the same for all items, also where it is an expression.
		const field = n8n.getNodeParameter(`${parameter}Linked.records[${row}].field`, 0, '');
		return [{ field: String(field ?? ''), record }];
	});
}

/** The names of the fields that were mapped by hand or by picking a record. */
export function mappedNames(mapping: Mapping): string[] {
	const mapped = mapping.mode === 'each' ? mapping.mapped.map(([name]) => name) : [];
	return [...mapped, ...mapping.linked.map(({ field }) => field)];
}

/** Whether an AI agent's model fills in the value: it answers for every field it is shown. */
export function isFilledByModel(value: unknown): boolean {
	return typeof value === 'string' && /\$fromAI\b/i.test(value);
}

/** A mapping whose values are members of objects. */
export type ObjectMapping = Exclude<Mapping, { mode: 'each' }>;

function jsonObjects(n8n: IExecuteFunctions, value: unknown): ObjectOf {
	const read = evaluateValues(n8n, [{ label: 'JSON', value }]);
	const evaluated: IDataObject[] = [];
	return (item) => (evaluated[item] ??= jsonObject(read(item)[0]));
}

function jsonObject(given: unknown): IDataObject {
	const parsed = typeof given === 'string' ? parseJson(given) : given;
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
	/** Undefined where no field was chosen, or the expression gives none. */
	of(item: number): string | undefined;
}

/** Reads the field to match on; it may be an expression where it is not part of the mapper. */
export function matchingColumn(n8n: IExecuteFunctions, parameter: string): MatchingColumn {
	if (modeOf(n8n, parameter) === 'each') {
		const chosen = mapperOf(n8n, parameter).matchingColumns?.[0];
		return { mayDiffer: false, of: () => chosen };
	}
	const value = stored(n8n, `${parameter}MatchOn`, '');
	const read = evaluateValues(n8n, [{ label: 'Match On', value }]);
	return {
		// n8n stores a single equals sign for an expression that was emptied.
		mayDiffer: isExpression(value) && value.slice(1).trim() !== '',
		of: (item) => String(read(item)[0] ?? '').trim() || undefined,
	};
}

/** `each`, `automatic` or `json`. */
function modeOf(n8n: IExecuteFunctions, parameter: string): unknown {
	return n8n.getNodeParameter(`${parameter}Mode`, 0, 'each');
}

function mapperOf(n8n: IExecuteFunctions, parameter: string): Mapper {
	return stored(n8n, parameter) as Mapper;
}

function stored(n8n: IExecuteFunctions, parameter: string, absent: object | string = {}): unknown {
	return n8n.getNodeParameter(parameter, 0, absent, { rawExpressions: true });
}
