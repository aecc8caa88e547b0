import { isExpression, type IExecuteFunctions } from 'n8n-workflow';

import { evaluateValues } from './expressions';
import { locatorValue } from './locator';

/**
 * What a user gave for a parameter of fields, as it is stored: expressions are evaluated for each
 * item, and not before.
 */
export type Mapping = Values & {
	/** Records picked beside the values, in the order shown. */
	linked: LinkedRecord[];
};

type Values =
	/** Each field by hand; blanks left out. */
	| { mode: 'each'; given: Array<[name: string, value: unknown]> }
	/** The items' own values. */
	| { mode: 'automatic' }
	/** One JSON object, or an expression that gives one. */
	| { mode: 'json'; given: unknown };

/** A record that the user picked, and what it is to the one that is written. */
export interface LinkedRecord {
	/** Name of a Link. */
	field: string;
	/** Its id, or an expression. */
	record: unknown;
}

/** What n8n's resource mapper stores. */
interface Mapper {
	mappingMode?: string;
	value?: Record<string, unknown> | null;
	matchingColumns?: string[];
}

/** Beside the mapper `fields` stand `fieldsMode`, `fieldsJson`, `fieldsMatchOn` and `fieldsLinked`. */
export function storedMapping(n8n: IExecuteFunctions, parameter: string): Mapping {
	return { ...valuesIn(n8n, parameter), linked: linkedIn(n8n, parameter) };
}

function valuesIn(n8n: IExecuteFunctions, parameter: string): Values {
	if (isJson(n8n, parameter)) return { mode: 'json', given: stored(n8n, `${parameter}Json`) };
	const { mappingMode, value } = mapperOf(n8n, parameter);
	if (mappingMode === 'autoMapInputData') return { mode: 'automatic' };
	const given = Object.entries(value ?? {}).filter(
		([, one]) => one !== null && one !== undefined && one !== '',
	);
	return { mode: 'each', given };
}

function linkedIn(n8n: IExecuteFunctions, parameter: string): LinkedRecord[] {
	const rows = stored(n8n, `${parameter}Linked.records`, []) as Array<{ record?: unknown }>;
	return rows.flatMap(({ record: picked }, row) => {
		const record = locatorValue(picked);
		if (record === undefined || record === null || record === '') return [];
		// One for all items, also where it is an expression.
		const field = n8n.getNodeParameter(`${parameter}Linked.records[${row}].field`, 0, '');
		return [{ field: String(field ?? ''), record }];
	});
}

/** Whether an AI agent's model fills it in, which has to give something for all it is shown. */
export function isFilledByModel(value: unknown): boolean {
	return typeof value === 'string' && /\$fromAI\b/i.test(value);
}

/** The field that the user chose to match on (upsert). */
export interface MatchingColumn {
	/** Whether it is an expression, which may give another field for each item. */
	mayDiffer: boolean;
	/** Nothing where nothing was chosen, or the expression gives nothing. */
	of(item: number): string | undefined;
}

/** Beside JSON, it may be an expression. */
export function matchingColumn(n8n: IExecuteFunctions, parameter: string): MatchingColumn {
	if (!isJson(n8n, parameter)) {
		const chosen = mapperOf(n8n, parameter).matchingColumns?.[0];
		return { mayDiffer: false, of: () => chosen };
	}
	const value = stored(n8n, `${parameter}MatchOn`, '');
	const read = evaluateValues(n8n, [{ label: 'Match On', value }]);
	return {
		// A bare sign of equality is what n8n leaves of an expression that was emptied.
		mayDiffer: isExpression(value) && value.slice(1).trim() !== '',
		of: (item) => String(read(item)[0] ?? '').trim() || undefined,
	};
}

function isJson(n8n: IExecuteFunctions, parameter: string): boolean {
	return n8n.getNodeParameter(`${parameter}Mode`, 0, 'each') === 'json';
}

function mapperOf(n8n: IExecuteFunctions, parameter: string): Mapper {
	return stored(n8n, parameter) as Mapper;
}

function stored(n8n: IExecuteFunctions, parameter: string, absent: object | string = {}): unknown {
	return n8n.getNodeParameter(parameter, 0, absent, { rawExpressions: true });
}

/** The names of the fields that were mapped by hand, and of those that records were picked for. */
export function mappedNames(mapping: Mapping): string[] {
	const mapped = mapping.mode === 'each' ? mapping.given.map(([name]) => name) : [];
	return [...mapped, ...mapping.linked.map(({ field }) => field)];
}
