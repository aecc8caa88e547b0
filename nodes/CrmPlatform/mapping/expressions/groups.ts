import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { readsOnlyJson } from './plainCode';

/** The value of a piece of code; empty where it has to be evaluated on its own. */
export type Evaluated = [] | [unknown];

/** Maximum items per group, which limits how long the event loop is blocked: some milliseconds. */
const maxItems = 100;

/**
 * Maximum characters of the items in a group. n8n's engine `vm` has 128 MB for the input and output of an
 * evaluation; once that is used up, every later expression of the execution fails.
 */
const maxCharacters = 2 ** 18;

/** Maximum depth of the data: some objects contain themselves. */
const maxDepth = 50;

/**
 * Evaluates pieces of code for a group of items in one evaluation, where the items are read one after
 * another. Code that may read more of its item than `$json` is evaluated item by item, and so is
 * everything once a group fails: the failing item is the one reported.
 *
 * @param codes plain code (see isPlainCode)
 * @returns gives the values for an item, in the order of `codes`
 */
export function evaluateInGroups(n8n: IExecuteFunctions, codes: string[]): (item: number) => Evaluated[] {
	const evaluateItem = evaluateTogether(n8n, codes);
	const items = n8n.getInputData();
	const expression = `{{ ${overGroup(codes)} }}`;
	let fits = codes.length > 0 && codes.every(readsOnlyJson);
	let first = 0;
	let results: Evaluated[][] = [];
	let next = 0;

	return (item) => {
		const cachedResults = results[item - first];
		if (cachedResults) return cachedResults;
		const isInOrder = item === next;
		next = item + 1;
		if (!fits || !isInOrder) return evaluateItem(item);
		const group = groupFrom(items, item);
		if (group.length < 2) return evaluateItem(item);
		const evaluated = attempt(() => evaluateGroup(n8n, expression, items, group));
		fits = Array.isArray(evaluated) && evaluated.length === group.length;
		if (!fits) return evaluateItem(item);
		results = evaluated as Evaluated[][];
		first = item;
		next = item + group.length;
		return results[0]!;
	};
}

/** Code for the values of each item of `$json.group`. Each item has its own time, as in separate evaluations. */
function overGroup(codes: string[]): string {
	const values = combined(codes);
	const today = 'DateTime.now().set({ hour: 0, minute: 0, second: 0, millisecond: 0 })';
	return codes.some((code) => /\$now|\$today/.test(code))
		? `$json.group.map($json => (($now, $today) => ${values})(DateTime.now(), ${today}))`
		: `$json.group.map($json => ${values})`;
}

/**
 * The engine reads items where the node got them, so the group goes there for the length of one
 * evaluation: as an item behind the last, which no plain code can see.
 */
function evaluateGroup(
	n8n: IExecuteFunctions,
	expression: string,
	items: INodeExecutionData[],
	group: IDataObject[],
): unknown {
	items.push({ json: { group } });
	try {
		return n8n.evaluateExpression(expression, items.length - 1);
	} finally {
		items.pop();
	}
}

/** The data of the items that fit into a group; none from an item on whose data is too large. */
function groupFrom(items: INodeExecutionData[], start: number): IDataObject[] {
	const group: IDataObject[] = [];
	let left = maxCharacters;
	for (const { json } of items.slice(start, start + maxItems)) {
		// A getter may throw.
		left = Number(attempt(() => withoutSizeOf(json, left, 0)) ?? -1);
		if (left < 0) break;
		group.push(json);
	}
	return group;
}

/** The characters left after a value; negative if it is too large or nested too deeply. */
function withoutSizeOf(value: unknown, characters: number, depth: number): number {
	let left = depth < maxDepth ? characters - 8 : -1;
	if (typeof value === 'string') return left - value.length;
	if (typeof value !== 'object' || value === null) return left;
	for (const key in value) {
		if (left < 0) break;
		left = withoutSizeOf((value as IDataObject)[key], left, depth + 1);
	}
	return left;
}

/**
 * Evaluates several pieces of code for an item in one evaluation: n8n's engine takes half a
 * millisecond to set one up, whatever the code.
 *
 * @param codes plain code (see isPlainCode)
 */
function evaluateTogether(n8n: IExecuteFunctions, codes: string[]): (item: number) => Evaluated[] {
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

/** What an evaluation gives; undefined if it fails. */
function attempt(evaluate: () => unknown): unknown {
	try {
		return evaluate();
	} catch {
		return undefined;
	}
}
