import {
	isExpression,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
} from 'n8n-workflow';

import { valueAt } from './itemPath';
import { piecesOf, type Piece } from './template';
import { evaluateTogether, type Evaluated } from './combined';

/** What a user gave for a field: a constant or, where it begins with `=`, an expression. */
export interface ParameterValue {
	/** The field's, to name it in errors. */
	label: string;
	value: unknown;
}

/**
 * Reads what users gave, with the values n8n's engine gives: constants and ways into the item
 * without it, the rest in one evaluation per item, and on its own what does not go together.
 *
 * @returns reads the values for an input item, in the order given
 * @throws NodeOperationError from what is returned; it names the field
 */
export function evaluateValues(n8n: IExecuteFunctions, given: ParameterValue[]): (item: number) => unknown[] {
	const items = n8n.getInputData();
	// What a tool is called with is its item, and to the engine the agent's item is.
	const planned = n8n.isToolExecution() ? () => undefined : planOf;
	const plans = given.map((one) => ({ ...one, pieces: planned(one.value) }));
	const codes = plans.flatMap(({ pieces = [] }) =>
		pieces.flatMap((piece) => ('code' in piece ? [piece.code] : [])),
	);
	const evaluate = evaluateTogether(n8n, codes);

	return (item) => {
		const json = items[item]?.json ?? {};
		const evaluated = evaluate(item).values();
		return plans.map(({ label, value, pieces }) => {
			if (!isExpression(value)) return value;
			const composed = pieces
				? compose(pieces.map((piece) => resultOf(piece, json, evaluated)))
				: [];
			return composed.length > 0 ? composed[0] : alone(n8n, label, value, item);
		});
	};
}

/** Nothing where the engine has to evaluate all of it. */
function planOf(value: unknown): Piece[] | undefined {
	return isExpression(value) ? piecesOf(value) : [];
}

function resultOf(piece: Piece, json: IDataObject, evaluated: Iterator<Evaluated>): Evaluated {
	if ('text' in piece) return [piece.text];
	if ('path' in piece) return valueAt(json, piece.path);
	return evaluated.next().value as Evaluated;
}

/** One piece keeps its type; several become text, which the engine alone can make of objects. */
function compose(results: Evaluated[]): Evaluated {
	const [first = []] = results;
	if (results.length === 1) return first;
	const values = results.map(([value]) => value);
	const isWhole = results.every(({ length }) => length > 0);
	if (!isWhole || values.some((value) => typeof value === 'object' && value !== null)) return [];
	return [values.map((value) => (value || value === 0 || value === false ? value : '')).join('')];
}

function alone(n8n: IExecuteFunctions, label: string, expression: string, item: number): unknown {
	try {
		return n8n.evaluateExpression(expression.slice(1), item);
	} catch (error) {
		const message = `${label}: ${(error as Error).message}`;
		throw new NodeOperationError(n8n.getNode(), error as Error, { message, itemIndex: item });
	}
}
