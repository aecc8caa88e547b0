import { invalidParameter } from '../../core/foundation/problem.ts';
import { invalidText, typedText } from './read-query.ts';
import type { Cell } from '../../core/store/records/columns.ts';
import type { Condition } from '../../core/store/records/condition.ts';
import { foldCase } from '../../core/store/records/fold-case.ts';
import type { Filter } from './filters.ts';

/**
 * Translates a filter and the text of its query parameter to SQL.
 *
 * @throws Problem invalid_parameter
 */
export function filterCondition(filter: Filter, text: string): Condition {
	const { operator, sql } = filter;
	const values = (filter.takesList ? text.split(',') : [text]).map((part) => parseValue(filter, part));
	if (operator === 'empty') return { sql: values[0] === 1 ? sql : `NOT (${sql})`, values: [] };
	if (operator === 'contains' || operator === 'starts_with') {
		const place = operator === 'contains' ? '> 0' : '= 1';
		return { sql: `instr(fold_case(${sql}), ?) ${place}`, values: values.map((value) => foldCase(String(value))) };
	}
	if (operator === '=') {
		const anyOf = `IN (${values.map(() => '?').join()})`;
		const isInList = `EXISTS (SELECT 1 FROM json_each(${sql}) WHERE ${filter.element ?? 'value'} ${anyOf})`;
		return { sql: filter.isList ? `${sql} <> '[]' AND ${isInList}` : `${sql} ${anyOf}`, values };
	}
	// An absent value sorts before all others, but it must not match `<`.
	const notEmpty = typeof values[0] === 'string' ? `${sql} <> ''` : `${sql} > ${-Number.MAX_VALUE}`;
	return { sql: `${sql} ${operator} ? AND ${notEmpty}`, values };
}

function parseValue({ parameter, schema, type }: Filter, text: string): Cell {
	if (text === '') {
		throw invalidParameter(parameter, `${parameter} is empty. Enter a value or omit the parameter.`);
	}
	const { data, error } = type.safeParse(typedText(schema, text));
	if (error) throw invalidText(parameter, text, error);
	return typeof data === 'boolean' ? Number(data) : (data as Cell);
}
