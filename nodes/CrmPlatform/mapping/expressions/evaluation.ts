import { isExpression, NodeOperationError, type IDataObject, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';

import { resultOrError } from '../../base/results';
import { mayWrite, readsOnlyJson } from './plainCode';
import { piecesOf, valueAt, type Evaluated, type Piece } from './template';

/** The stored value of a parameter: a constant or, if it begins with `=`, an expression. */
interface ParameterValue {
	label: string;
	value: unknown;
}

/**
 * Evaluates stored values with the same results as n8n's engine, but faster: setting up an evaluation takes half a
 * millisecond, whatever the code. Constants and paths into the item do not need the engine. Plain code (see isPlainCode) is
 * evaluated together: for many items, or for one item if it may read more of it than `$json`. Other expressions are
 * evaluated one by one, and so is all code once that has failed, so that the right item is reported. If an expression may
 * change the item, all are evaluated one by one and in order, as n8n does.
 */
export class Evaluation {
	private readonly n8n: IExecuteFunctions;
	private readonly parameters: ParameterValue[];
	/** The pieces of each parameter; undefined if the engine has to evaluate the expression as a whole. */
	private readonly pieces: Array<Piece[] | undefined>;
	private readonly codes: string[];
	private readonly items: INodeExecutionData[];
	/** Whether the codes are evaluated for many items at once. */
	private readonly isForMany: boolean;
	/** Whether the codes are evaluated together. Code that does not compile would fail each time, and all other code with it. */
	private isTogether: boolean;
	/** The results of the items that were evaluated last, and the first of them. */
	private last: { start: number; results: Evaluated[][] } = { start: 0, results: [] };

	constructor(n8n: IExecuteFunctions, parameters: ParameterValue[]) {
		const isConstant = !parameters.some(({ value }) => isExpression(value));
		// In a tool, the input item contains the arguments of the call, but the engine reads the agent's item.
		const isSplit = !isConstant && !n8n.isToolExecution() && !mayChangeItem(parameters);
		this.n8n = n8n;
		this.parameters = parameters;
		this.pieces = parameters.map(({ value }) => (isSplit && isExpression(value) ? piecesOf(value) : undefined));
		this.codes = this.pieces.flatMap((pieces = []) => pieces.flatMap((piece) => ('code' in piece ? [piece.code] : [])));
		this.items = isConstant ? [] : n8n.getInputData();
		this.isForMany = this.codes.every(readsOnlyJson);
		this.isTogether = this.codes.length > 0;
	}

	/** In the order of the parameters. @throws NodeOperationError that names the field */
	valuesOf(item: number): unknown[] {
		const json = this.items[item]?.json ?? {};
		const results = this.resultsOf(item).values();
		return this.parameters.map(({ label, value }, i) => {
			if (!isExpression(value)) return value;
			const composed = compose(this.pieces[i]?.map((piece) => resultOf(piece, json, results)) ?? []);
			return composed.length > 0 ? composed[0] : this.evaluateAlone(label, value, item);
		});
	}

	private evaluateAlone(label: string, expression: string, item: number): unknown {
		try {
			return this.n8n.evaluateExpression(expression.slice(1), item);
		} catch (error) {
			const message = `${label}: ${(error as Error).message}`;
			throw new NodeOperationError(this.n8n.getNode(), error as Error, { message, itemIndex: item });
		}
	}

	/** The result of each code for an item; an empty result if the code has to be evaluated on its own. */
	private resultsOf(item: number): Evaluated[] {
		const cachedResults = this.last.results[item - this.last.start];
		if (cachedResults) return cachedResults;
		const results = this.isTogether ? resultOrError(() => this.evaluateTogether(item)) : undefined;
		this.isTogether = Array.isArray(results) && results.every(Array.isArray);
		if (!this.isTogether) return this.codes.map(() => []);
		this.last = { start: item, results: results as Evaluated[][] };
		return this.last.results[0]!;
	}

	/** The results of the codes for some items, of which this one is the first. */
	private evaluateTogether(item: number): unknown {
		const together = this.isForMany ? jsonFrom(this.items, item) : [];
		if (together.length > 1) return this.evaluateAfterLast(together);
		return [this.n8n.evaluateExpression(`{{ ${combinedCode(this.codes)} }}`, item)];
	}

	/**
	 * The engine reads items from the node's input, so their data is added there for one evaluation, as an item after the
	 * last one, which plain code cannot see.
	 */
	private evaluateAfterLast(together: IDataObject[]): unknown {
		this.items.push({ json: { together } });
		try {
			return this.n8n.evaluateExpression(`{{ ${codeForMany(this.codes)} }}`, this.items.length - 1);
		} finally {
			this.items.pop();
		}
	}
}

/** Whether one of the expressions may change the item that the others read. */
const mayChangeItem = (parameters: ParameterValue[]): boolean =>
	parameters.some(({ value }) => isExpression(value) && !piecesOf(value) && mayWrite(value));

function resultOf(piece: Piece, json: IDataObject, results: Iterator<Evaluated>): Evaluated {
	if ('text' in piece) return [piece.text];
	if ('path' in piece) return valueAt(json, piece.path);
	return results.next().value as Evaluated;
}

/** A single piece keeps its type; several become text. Objects are left to the engine, which has its own rules for their text. */
function compose(results: Evaluated[]): Evaluated {
	const [first = []] = results;
	if (results.length <= 1) return first;
	const values = results.map(([value]) => value);
	const isComplete = results.every(({ length }) => length > 0);
	if (!isComplete || values.some((value) => typeof value === 'object' && value !== null)) return [];
	return [values.map((value) => (value || value === 0 || value === false ? value : '')).join('')];
}

/** Maximum items in an evaluation, which limits how long the event loop is blocked: some milliseconds. */
const maxItems = 100;

/**
 * Maximum characters of their data. n8n's engine `vm` has 128 MB for the input and output of an
 * evaluation; once that is used up, every later expression of the execution fails.
 */
const maxCharacters = 2 ** 18;

/** The data of the items that fit into an evaluation, up to the first whose data is too large, or is not JSON. */
function jsonFrom(items: INodeExecutionData[], start: number): IDataObject[] {
	const together: IDataObject[] = [];
	let room = maxCharacters;
	for (const { json } of items.slice(start, start + maxItems)) {
		const length = resultOrError(() => JSON.stringify(json).length);
		if (length instanceof Error || length > room) break;
		room -= length;
		together.push(json);
	}
	return together;
}

/** Code that evaluates the codes for each item of `$json.together`. Each item has its own time, as in separate evaluations. */
function codeForMany(codes: string[]): string {
	const values = combinedCode(codes);
	const today = 'DateTime.now().set({ hour: 0, minute: 0, second: 0, millisecond: 0 })';
	return codes.some((code) => /\$now|\$today/.test(code))
		? `$json.together.map($json => (($now, $today) => ${values})(DateTime.now(), ${today}))`
		: `$json.together.map($json => ${values})`;
}

/**
 * Code that returns the results of several codes, each as Evaluated. A missing path throws a TypeError, which the engine
 * treats as undefined, and so does this. After any other error, the code is evaluated on its own. It must not contain two
 * adjacent braces, which would end the expression.
 */
function combinedCode(codes: string[]): string {
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
