import {
	isExpression,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
} from 'n8n-workflow';

import { piecesOf, valueAt, type Piece } from './template';
import { evaluateInGroups, type Evaluated } from './groups';
import { mayWrite } from './plainCode';

/** The stored value of a parameter: a constant or, if it begins with `=`, an expression. */
interface ParameterValue {
	/** Label of the field, for errors. */
	label: string;
	value: unknown;
}

/**
 * Evaluates stored values with the results of n8n's engine: constants and paths into the item without it; other
 * expressions in one evaluation for many items; in one per item if they use more than its data; or one by one
 * if they cannot be combined. Where one of them may change the item, all are evaluated one by one and in order,
 * as n8n does.
 *
 * @returns evaluates the values for an input item, in their order
 * @throws NodeOperationError from what is returned; it names the field
 */
export function evaluateValues(n8n: IExecuteFunctions, parameters: ParameterValue[]): (item: number) => unknown[] {
	const constants = parameters.map(({ value }) => value);
	if (!constants.some(isExpression)) return () => constants;

	const items = n8n.getInputData();
	// A tool's item contains the arguments of the call; for the engine, the item is the agent's.
	const planned = n8n.isToolExecution() || mayChangeItem(parameters) ? () => undefined : planOf;
	const plans = parameters.map((parameter) => ({ ...parameter, pieces: planned(parameter.value) }));
	const codes = plans.flatMap(({ pieces = [] }) =>
		pieces.flatMap((piece) => ('code' in piece ? [piece.code] : [])),
	);
	const evaluate = evaluateInGroups(n8n, codes);

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

/** Whether one of the expressions may change the item that the others read. */
const mayChangeItem = (parameters: Array<Pick<ParameterValue, 'value'>>): boolean =>
	parameters.some(({ value }) => isExpression(value) && !piecesOf(value) && mayWrite(value));

/** Undefined where the engine has to evaluate the expression as a whole. */
function planOf(value: unknown): Piece[] | undefined {
	return isExpression(value) ? piecesOf(value) : [];
}

function resultOf(piece: Piece, json: IDataObject, evaluated: Iterator<Evaluated>): Evaluated {
	if ('text' in piece) return [piece.text];
	if ('path' in piece) return valueAt(json, piece.path);
	return evaluated.next().value as Evaluated;
}

/** One piece keeps its type; several become text. Objects are left to the engine, which has rules for their text. */
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
