import type { IExecuteFunctions } from 'n8n-workflow';

/** The value of a piece of code; empty where it has to be evaluated on its own. */
export type Evaluated = [] | [unknown];

/**
 * Evaluates several pieces of code for an item in one evaluation: n8n's engine takes half a
 * millisecond to set one up, whatever the code.
 *
 * @param codes plain code (see isPlainCode)
 */
export function evaluateTogether(n8n: IExecuteFunctions, codes: string[]): (item: number) => Evaluated[] {
	const apart: Evaluated[] = codes.map(() => []);
	// Code that does not compile fails the whole evaluation, for every item.
	let fits = codes.length > 1;
	const expression = `{{ ${combined(codes)} }}`;
	return (item) => {
		if (!fits) return apart;
		const results = attempt(() => n8n.evaluateExpression(expression, item));
		fits = Array.isArray(results);
		return fits ? (results as Evaluated[]) : apart;
	};
}

/**
 * Code for the values of several pieces of code, each as Evaluated. A missing path ends in a TypeError,
 * which the engine reads as undefined, and so does this. For any other error the code is evaluated on
 * its own. Without two adjacent braces inside: they would end the expression.
 */
export function combined(codes: string[]): string {
	const functions = codes.map((code) => `() => (${code})`).join(', ');
	return `[${functions}].map(piece => {
		try {
			const value = piece();
			return typeof value === "function" || typeof value === "symbol" ? [] : [value]
		} catch (error) {
			return error.name === "TypeError" ? [undefined] : []
		}
	})`;
}

/** What an evaluation gives; undefined if it fails. */
export function attempt(evaluate: () => unknown): unknown {
	try {
		return evaluate();
	} catch {
		return undefined;
	}
}
