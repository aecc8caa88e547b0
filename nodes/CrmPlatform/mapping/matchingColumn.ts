import { isExpression, type IExecuteFunctions } from 'n8n-workflow';

import { Evaluation } from './expressions/evaluation';
import { matchedByMapper } from './storedFields';
import { storedParameter } from './storedParameter';

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
