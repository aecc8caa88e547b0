import type { IDataObject } from 'n8n-workflow';

import type { Evaluated } from './combined';

const step =
	/(?:\?\.|\.)([A-Za-z_$][\w$]*)|(?:\?\.)?\[\s*(?:"([^"\\]*)"|'([^'\\]*)'|(0|[1-9]\d*))\s*\]/y;

/**
 * The way into the item that code names and nothing else: `$json.a["b c"]?.[0]` is
 * `['a', 'b c', '0']`. Such expressions are most of a mapping, and n8n's engine takes half a
 * millisecond for each.
 *
 * @param code what stands between `{{` and `}}`
 * @returns undefined where the code does more than that, or what the engine alone knows
 */
export function itemPath(code: string): string[] | undefined {
	const [, steps] = /^\s*\$json((?:(?:\?\.|\.|\[)[\s\S]*?)?)\s*$/.exec(code) ?? [];
	if (steps === undefined) return undefined;
	const path: string[] = [];
	step.lastIndex = 0;
	while (step.lastIndex < steps.length) {
		const match = step.exec(steps);
		const key = match?.slice(1).find((part) => part !== undefined);
		if (key === undefined || isBuiltIn(key)) return undefined;
		path.push(key);
	}
	return path;
}

/**
 * What stands there: undefined where the way ends before.
 *
 * @returns empty for what the engine has to find out: a way through a Date, a DateTime or the like,
 * whose members need not be its own, and a function
 */
export function valueAt(json: IDataObject, path: string[]): Evaluated {
	let value: unknown = json;
	for (const key of path) {
		if (value === null || value === undefined) return [undefined];
		if (!isData(value)) return [];
		value = Object.hasOwn(value, key) ? (value as IDataObject)[key] : undefined;
	}
	return typeof value === 'function' ? [] : [value];
}

/** Whether it is what JSON has: what it has is its own. */
function isData(value: NonNullable<unknown>): boolean {
	if (typeof value === 'function') return false;
	if (typeof value !== 'object' || Array.isArray(value)) return true;
	const prototype: unknown = Object.getPrototypeOf(value);
	// Not compared with Object.prototype: objects may come out of another realm, such as a sandbox.
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** `length`, `constructor`, `first` and the like may mean more than a key of the item. */
function isBuiltIn(key: string): boolean {
	return [Object, Array, String, Number, Boolean].some(({ prototype }) => key in prototype);
}
