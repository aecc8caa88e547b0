import { isExpression, type IExecuteFunctions } from 'n8n-workflow';

import { isBlank } from '../values/blank';
import { readOption } from '../values/readers';
import { Evaluation } from './expressions/evaluation';
import { isByName, locatorValue } from './locator';

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

/** Whether an empty value of an item leaves the field unchanged, or clears it. */
export type EmptyCells = 'leave' | 'clear';

/** A record that the user linked, and the Link that refers to it. */
export interface StoredLinkedRecord {
	/** Name of a Link, or an expression. */
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
	if (mode === 'json') return { linked, mode, json: stored(n8n, `${parameter}Json`) };
	const { mappingMode, value } = mapperOf(n8n, parameter);
	// n8n's own nodes use the second form, and so do workflows generated outside the editor.
	if (mode === 'automatic' || mappingMode === 'autoMapInputData') {
		return { linked, mode: 'automatic', emptyCells: stored(n8n, 'options.emptyCells', 'leave') };
	}
	return { linked, mode, rows: Object.entries(value ?? {}).filter(([, fieldValue]) => !isBlank(fieldValue)) };
}

/** Reads the records that the user picked beside `parameter`. */
function linkedRecordsIn(n8n: IExecuteFunctions, parameter: string): StoredLinkedRecord[] {
	const rows = stored(n8n, `${parameter}Linked.records`, []) as Array<{ field?: unknown; record?: unknown }>;
	return rows.flatMap(({ field: linkName = '', record: locator }) => {
		const record = locatorValue(locator);
		if (isBlank(record)) return [];
		return [{ linkName, record, mayBeName: isByName(locator) }];
	});
}

/** Whether a model fills in the value. A model has to fill in every field, even one that it has no value for. */
export function isFilledByModel(value: unknown): boolean {
	return typeof value === 'string' && /\$fromAI\s*\(/i.test(value.replace(comment, ' '));
}

/** Also matches after the slashes of a URL: such a value is treated as the user's. */
const comment = /\/\*[^]*?\*\/|\/\/.*/g;

/** The field the user chose to match on (upsert). */
export class MatchingColumn {
	/** Whether it is an expression, which may return a different field for each item. */
	readonly mayDiffer: boolean;
	private readonly evaluation: Evaluation;

	/**
	 * @param parameter the parameter with the field, such as `matchOn`
	 * @param mapper a mapper that may have the field, too
	 */
	constructor(n8n: IExecuteFunctions, parameter: string, mapper?: string) {
		const value = stored(n8n, parameter, '') || (mapper === undefined ? '' : matchedByMapper(n8n, mapper));
		// n8n stores a single equals sign for an empty expression.
		this.mayDiffer = isExpression(value) && value.slice(1).trim() !== '';
		this.evaluation = new Evaluation(n8n, [{ label: 'Match On', value }]);
	}

	/** Undefined if no field is chosen or the expression returns nothing. */
	of(item: number): string | undefined {
		return String(this.evaluation.valuesOf(item)[0] ?? '').trim() || undefined;
	}
}

/** The notation of n8n's own nodes, and of workflows generated outside the editor. */
function matchedByMapper(n8n: IExecuteFunctions, parameter: string): string {
	return modeOf(n8n, parameter) === 'each' ? (mapperOf(n8n, parameter).matchingColumns?.[0] ?? '') : '';
}

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
