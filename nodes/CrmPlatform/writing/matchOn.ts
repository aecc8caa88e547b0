import { type IDataObject, isExpression, type IExecuteFunctions } from 'n8n-workflow';

import { ruleNumber } from '../api/http/rules';
import { customFieldPrefix } from '../fields/field';
import type { Connection } from '../api/connection';
import { ownMember } from '../base/ownMembers';
import type { MatchDescription } from '../api/openapi/writing';
import { valueIn } from '../fields/keys';
import type { Execution } from '../model';
import { Evaluation } from '../mapping/expressions/evaluation';
import { matchedByMapper } from '../mapping/storedFields';
import { storedParameter } from '../mapping/storedParameter';

/**
 * The field to match on: the user's choice, or the service's default. A choice that the service does not support is
 * refused, since another record would be overwritten.
 *
 * @returns a function that returns the field for an item; undefined if the service decides
 * @throws Error from that function, in the user's words, if the service does not find records by the field, if its
 * description does not say how or could not be read, or if an expression returns nothing
 */
export function fieldToMatchOn(
	{ api }: Execution,
	column: MatchingColumn,
	match: MatchDescription | undefined,
	whenBlank = match?.whenBlank,
): (item: number) => string | undefined {
	return (item) => {
		const chosen = column.of(item);
		if (chosen === undefined && column.mayDiffer) {
			throw new Error(
				`Match On is empty for this item, so nothing was written for it. Choose the field that identifies a record, such as ${match?.values[0] ?? 'email'}, or correct the expression.`,
			);
		}
		const field = chosen ?? whenBlank;
		return field === undefined ? undefined : checkedMatch(api, match, field);
	};
}

function checkedMatch(api: Connection, match: MatchDescription | undefined, field: string): string {
	api.requireDescription(`Match On ${field}`);
	if (!match) {
		throw new Error(
			`Match On: the CRM’s API description does not say how records are found by ${field} (${ruleNumber(10)}), so nothing was sent. Leave Match On empty to let the CRM choose, or find the records with Get Many and use Update.`,
		);
	}
	const { values, takesCustomFields } = match;
	const isCustom = takesCustomFields && field.startsWith(customFieldPrefix);
	// The packaged description does not know the fields of another service.
	if (isCustom || values.includes(field) || !api.isSelfDescribed()) return field;
	throw new Error(
		`Match On: the CRM does not find records by ${field}, so nothing was sent. Choose ${values.join(', ')}.`,
	);
}

/** The value by which a record is found, if it has one. */
export function matchValue(field: string, body: IDataObject): string | undefined {
	const value = ownMember(body, field) ?? valueIn(body, { path: field.split('.') }) ?? null;
	return value === null ? undefined : String(value);
}

/** The message for a record without that value. */
export const noMatchValue = (field: string): string =>
	`The field to match on, ${field}, has no value. Enter a value, or match on another field.`;

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
		const value = storedParameter(n8n, parameter, '') || (mapper === undefined ? '' : matchedByMapper(n8n, mapper));
		// n8n stores a single equals sign for an empty expression.
		this.mayDiffer = isExpression(value) && value.slice(1).trim() !== '';
		this.evaluation = new Evaluation(n8n, [{ label: 'Match On', value }]);
	}

	/** Undefined if no field is chosen or the expression returns nothing. */
	of(item: number): string | undefined {
		return String(this.evaluation.valuesOf(item)[0] ?? '').trim() || undefined;
	}
}
