import type { IDataObject } from 'n8n-workflow';

import { breaksRule } from '../api/http/rules';
import { isObject } from '../base/json';
import { conditionOf, verdictOf, type Condition } from '../fields/condition';
import type { ConvertedValue, Field } from '../fields/field';
import { listNameOf, valueIn } from '../fields/keys';
import { isBlank } from '../values/blank';

/**
 * Finds the filters of the scope that records can be checked against.
 *
 * @param recordFields the names of the members of records; empty if the service does not describe them
 */
export function conditionsOfScope(scope: ConvertedValue[], fields: Field[], recordFields: ReadonlySet<string>): Condition[] {
	return scope.map(({ field, converted }) => {
		const condition = conditionOf(field.name, converted, field, fields);
		return { ...condition, isAlwaysListed: recordFields.has(condition.field.path[0] ?? '') };
	});
}

/** The members of a record that decide whether it is in scope. */
export const namesOfScope = (conditions: Condition[], recordFields: ReadonlySet<string>): string[] =>
	conditions.flatMap(({ field }) => [field.path[0] ?? '', listNameOf(field)]).filter((name) => recordFields.has(name));

/**
 * Prepares a check of records that finds those outside the scope, for example because the service ignores the filters.
 *
 * @param records all records that were read with the scope: if one of them has a field, the others have no value
 * @returns a function that returns why a record is outside; undefined if it is in scope, as far as its fields show
 */
export function scopeCheck(records: readonly IDataObject[], conditions: Condition[]): (record: IDataObject) => string | undefined {
	const checked = conditions.map((condition) => ({
		...condition,
		isAlwaysListed: condition.isAlwaysListed || records.some((record) => valueIn(record, condition.field) !== undefined),
	}));
	return (record) => {
		const broken = checked.find((condition) => verdictOf(record, [[condition]]) === 'no');
		return broken && outside(broken.field, String(record.id), valueIn(record, broken.field));
	};
}

const outside = ({ label }: Condition['field'], id: string, value: unknown) =>
	`Records in Scope: the CRM returned record ${id}, whose ${label} is ${isBlank(value) ? 'empty' : `“${String(isObject(value) ? JSON.stringify(value) : value).slice(0, 100)}”`}, which the filter excludes. ${breaksRule(11)} Choose another filter, and report it to the CRM’s support.`;
