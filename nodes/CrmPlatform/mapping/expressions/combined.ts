import type { IExecuteFunctions } from 'n8n-workflow';

/** The value of a piece of code; empty where it has to be evaluated on its own. */
export type Evaluated = [] | [unknown];

/**
 * Evaluates pieces of code for one item at a time, all at once: what n8n's engine takes half a
 * millisecond for is setting up, not the code.
 *
 * A TypeError is how a missing path ends; the engine takes it for no value, and so does this. Any
 * other error is left to the engine, on its own.
 *
 * @param codes each of them plain (see isPlainCode)
 */
export function evaluateTogether(n8n: IExecuteFunctions, codes: string[]): (item: number) => Evaluated[] {
	const apart: Evaluated[] = codes.map(() => []);
	// Code that does not compile takes the others along, and does so for every item.
	let fits = codes.length > 1;
	const expression = combined(codes);
	return (item) => {
		if (!fits) return apart;
		const results = attempt(() => n8n.evaluateExpression(expression, item));
		fits = Array.isArray(results);
		return fits ? (results as Evaluated[]) : apart;
	};
}

/** No two braces stand together inside: they would end the expression. */
function combined(codes: string[]): string {
	const functions = codes.map((code) => `() => (${code})`).join(', ');
	return `{{ [${functions}].map(piece => {
		try {
			const value = piece();
			return typeof value === "function" || typeof value === "symbol" ? [] : [value]
		} catch (error) {
			return error.name === "TypeError" ? [undefined] : []
		}
	}) }}`;
}

function attempt(evaluate: () => unknown): unknown {
	try {
		return evaluate();
	} catch {
		return undefined;
	}
}
