import {
	isExpression,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import { mayWrite, readsOnlyJson } from './plainCode';
import { piecesOf, valueAt, type Evaluated, type Piece } from './template';

/** The stored value of a parameter: a constant or, if it begins with `=`, an expression. */
interface ParameterValue {
	/** Label of the field, for errors. */
	label: string;
	value: unknown;
}

/**
 * Evaluates stored values with the same results as n8n's engine, but faster. Constants and paths into the item do not
 * need the engine. Other expressions are combined: for many items at once, or for one item if they read more than its
 * data. Those that cannot be combined are evaluated one by one. If an expression may change the item, all are evaluated
 * one by one and in order, as n8n does.
 */
export class Evaluation {
	private readonly n8n: IExecuteFunctions;
	private readonly parameters: ParameterValue[];
	private readonly constants: unknown[] | undefined;
	/** The pieces of each parameter; undefined if the engine has to evaluate the expression as a whole. */
	private readonly pieces: Array<Piece[] | undefined>;
	private readonly items: INodeExecutionData[];
	private readonly code: CombinedCode;

	constructor(n8n: IExecuteFunctions, parameters: ParameterValue[]) {
		const isConstant = !parameters.some(({ value }) => isExpression(value));
		// In a tool, the input item contains the arguments of the call, but the engine reads the agent's item.
		const isSplit = !isConstant && !n8n.isToolExecution() && !mayChangeItem(parameters);
		this.n8n = n8n;
		this.parameters = parameters;
		this.constants = isConstant ? parameters.map(({ value }) => value) : undefined;
		this.pieces = parameters.map(({ value }) => (isSplit && isExpression(value) ? piecesOf(value) : undefined));
		this.items = isConstant ? [] : n8n.getInputData();
		const codes = this.pieces.flatMap((pieces = []) => pieces.flatMap((piece) => ('code' in piece ? [piece.code] : [])));
		this.code = new CombinedCode(n8n, this.items, codes);
	}

	/**
	 * The values for an input item, in the order of the parameters.
	 *
	 * @throws NodeOperationError that names the field
	 */
	valuesOf(item: number): unknown[] {
		if (this.constants) return this.constants;
		const json = this.items[item]?.json ?? {};
		const results = this.code.resultsOf(item).values();
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

/** Maximum items per group, which limits how long the event loop is blocked: some milliseconds. */
const maxItems = 100;

/**
 * Maximum characters of the items in a group. n8n's engine `vm` has 128 MB for the input and output of an
 * evaluation; once that is used up, every later expression of the execution fails.
 */
const maxCharacters = 2 ** 18;

/**
 * Evaluates pieces of plain code (see isPlainCode) for a group of items in one evaluation if items are read in order:
 * setting up an evaluation takes n8n's engine half a millisecond, whatever the code. Code that may read more of its item
 * than `$json` is evaluated item by item. So is all code after a group has failed, so that the right item is reported.
 */
class CombinedCode {
	private readonly n8n: IExecuteFunctions;
	private readonly items: INodeExecutionData[];
	private readonly codes: string[];
	/** Evaluates the codes for one item. */
	private readonly itemExpression: string;
	/** Evaluates the codes for a group of items. */
	private readonly groupExpression: string;
	private fitsGroup: boolean;
	/** Code that does not compile fails the whole evaluation, for every item. */
	private fitsItem: boolean;
	/** The results of the last group, and its first item. */
	private group: { start: number; results: Evaluated[][] } = { start: 0, results: [] };
	/** The next item if items are read in order. */
	private nextItem = 0;

	constructor(n8n: IExecuteFunctions, items: INodeExecutionData[], codes: string[]) {
		this.n8n = n8n;
		this.items = items;
		this.codes = codes;
		this.itemExpression = `{{ ${combined(codes)} }}`;
		this.groupExpression = `{{ ${overGroup(codes)} }}`;
		this.fitsGroup = codes.length > 0 && codes.every(readsOnlyJson);
		this.fitsItem = codes.length > 1;
	}

	/** The result of each code for an item; an empty result if the code has to be evaluated on its own. */
	resultsOf(item: number): Evaluated[] {
		const cachedResults = this.group.results[item - this.group.start];
		if (cachedResults) return cachedResults;
		const isInOrder = item === this.nextItem;
		this.nextItem = item + 1;
		return (this.fitsGroup && isInOrder ? this.evaluateGroup(item) : undefined) ?? this.evaluateItem(item);
	}

	/** Evaluates an item and those after it. */
	private evaluateGroup(start: number): Evaluated[] | undefined {
		const jsons = groupFrom(this.items, start);
		if (jsons.length < 2) return undefined;
		const results = attempt(() => this.evaluateAfterLast(jsons));
		this.fitsGroup = Array.isArray(results) && results.length === jsons.length;
		if (!this.fitsGroup) return undefined;
		this.group = { start, results: results as Evaluated[][] };
		this.nextItem = start + jsons.length;
		return this.group.results[0];
	}

	/**
	 * The engine reads items from the node's input, so the group is added there for one evaluation, as an item after the
	 * last one, which plain code cannot see.
	 */
	private evaluateAfterLast(group: IDataObject[]): unknown {
		this.items.push({ json: { group } });
		try {
			return this.n8n.evaluateExpression(this.groupExpression, this.items.length - 1);
		} finally {
			this.items.pop();
		}
	}

	private evaluateItem(item: number): Evaluated[] {
		const results = this.fitsItem ? attempt(() => this.n8n.evaluateExpression(this.itemExpression, item)) : undefined;
		this.fitsItem = Array.isArray(results);
		return this.fitsItem ? (results as Evaluated[]) : this.codes.map(() => []);
	}
}

/** The data of the items that fit into a group, up to the first item whose data is too large, or is not JSON. */
function groupFrom(items: INodeExecutionData[], start: number): IDataObject[] {
	const group: IDataObject[] = [];
	let left = maxCharacters;
	for (const { json } of items.slice(start, start + maxItems)) {
		left -= Number(attempt(() => JSON.stringify(json).length) ?? Infinity);
		if (left < 0) break;
		group.push(json);
	}
	return group;
}

/** Code that evaluates the codes for each item of `$json.group`. Each item has its own time, as in separate evaluations. */
function overGroup(codes: string[]): string {
	const values = combined(codes);
	const today = 'DateTime.now().set({ hour: 0, minute: 0, second: 0, millisecond: 0 })';
	return codes.some((code) => /\$now|\$today/.test(code))
		? `$json.group.map($json => (($now, $today) => ${values})(DateTime.now(), ${today}))`
		: `$json.group.map($json => ${values})`;
}

/**
 * Code that returns the results of several codes, each as Evaluated. A missing path throws a TypeError, which the engine
 * treats as undefined, and so does this. After any other error, the code is evaluated on its own. It must not contain two
 * adjacent braces, which would end the expression.
 */
function combined(codes: string[]): string {
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

/** The result of an evaluation; undefined if it fails. */
function attempt(evaluate: () => unknown): unknown {
	try {
		return evaluate();
	} catch {
		return undefined;
	}
}
