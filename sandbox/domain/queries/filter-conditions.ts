import { invalidParameter } from '../../core/foundation/problem.ts';
import { invalidText, typedText } from './read-query.ts';
import { type Cell, quoted } from '../../core/store/records/columns.ts';
import type { Condition } from '../../core/store/records/condition.ts';
import { foldCase } from '../../core/store/records/fold-case.ts';
import { entriesWith } from '../../core/store/records/value-index.ts';
import type { Filter } from './filters.ts';

/**
 * Translates a filter and the text of its query parameter to SQL.
 *
 * @param sortedBy the first sort column of the list. Only an index on this column, or one that leaves
 * few rows, is worth using; with any other index, SQLite would collect and sort all matching rows for
 * every page. A plus sign before a column keeps SQLite from using its index.
 * @throws Problem invalid_parameter
 */
export function filterCondition(filter: Filter, text: string, sortedBy: string): Condition {
	const texts = filter.takesList ? text.split(',') : [text];
	const values = texts.map((part) => parseValue(filter, part));
	if (filter.operator === 'empty') {
		return { sql: values[0] === 1 ? filter.sql : `NOT (${filter.sql})`, values: [] };
	}
	if (filter.operator === 'contains' || filter.operator === 'starts_with') {
		const place = filter.operator === 'contains' ? '> 0' : '= 1';
		const sql = `instr(fold_case(${filter.sql}), ?) ${place}`;
		return { sql, values: values.map((value) => foldCase(String(value))) };
	}
	const { isSelective, isUnique, customField: field, operator } = filter;
	const entries = field === undefined ? {} : { entries: entriesWith(field, operator, values) };
	const mayUseIndex = isSelective || filter.sql === quoted(sortedBy);
	const operand = mayUseIndex ? filter.sql : `+${filter.sql}`;
	if (operator === '=') {
		const anyOf = `IN (${values.map(() => '?').join()})`;
		const sql = filter.isList
			? `${operand} <> '[]' AND EXISTS (SELECT 1 FROM json_each(${filter.sql}) WHERE ${filter.element ?? 'value'} ${anyOf})`
			: `${operand} ${anyOf}`;
		return { sql, values, ...entries, ...(isUnique && { isUnique }) };
	}
	const isText = typeof values[0] === 'string';
	// An absent value sorts before all others, but it must not match `<`.
	const notEmpty = isText ? `${filter.sql} <> ''` : `+${filter.sql} > ${-Number.MAX_VALUE}`;
	return { sql: `${operand} ${operator} ? AND ${notEmpty}`, values, ...entries };
}

function parseValue({ parameter, schema, type }: Filter, text: string): Cell {
	if (text === '') {
		throw invalidParameter(parameter, `${parameter} is empty. Enter a value or omit the parameter.`);
	}
	const { data, error } = type.safeParse(typedText(schema, text));
	if (error) throw invalidText(parameter, text, error);
	return typeof data === 'boolean' ? Number(data) : (data as Cell);
}
