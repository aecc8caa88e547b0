import type { IDataObject } from 'n8n-workflow';

import { isPlainObject } from '../../base/ownMembers';
import { isPlainCode } from './plainCode';

/** The value of a piece; empty if n8n's engine has to evaluate it on its own. */
export type Evaluated = [] | [unknown];

/** A piece of an expression: text, a path into the item, or code for n8n's engine. */
export type Piece = { text: string } | { path: string[] } | { code: string };

/**
 * Splits an expression: `=Dear {{ $json.name }}` is a text and a path.
 *
 * @param expression as n8n stores it, with the equals sign
 * @returns undefined if the engine has to evaluate the expression as a whole, because of braces or backslashes that may
 * have a meaning, or of code that isPlainCode() rejects
 */
export function piecesOf(expression: string): Piece[] | undefined {
	const source = expression.slice(1);
	// The engine refuses the word after a dot even in text.
	if (/\.\s*constructor/.test(source)) return undefined;
	const pieces: Piece[] = [];
	for (const [index, text] of source.split(/\{\{([^{}]*)\}\}/).entries()) {
		const piece = index % 2 === 0 ? textPiece(text) : codePiece(text);
		if (!piece) return undefined;
		pieces.push(piece);
	}
	// Text around a single piece converts it to text, even empty text.
	return pieces.length === 3 && source.startsWith('{{') && source.endsWith('}}') ? pieces.slice(1, 2) : pieces;
}

const textPiece = (text: string): Piece | undefined => (/[{}\\]/.test(text) ? undefined : { text });

function codePiece(code: string): Piece | undefined {
	const path = itemPath(code);
	if (path) return { path };
	return isPlainCode(code) ? { code } : undefined;
}

const step =
	/(?:\?\.|\.)([A-Za-z_$][\w$]*)|(?:\?\.)?\[\s*(?:"([^"\\]*)"|'([^'\\]*)'|(0|[1-9]\d*))\s*\]/y;

/**
 * Reads code that is only a path into the item: `$json.a["b c"]?.[0]` is `['a', 'b c', '0']`. Most expressions of a
 * mapping are such paths, and n8n's engine takes half a millisecond for each.
 *
 * @param code the text between `{{` and `}}`
 * @returns undefined for any other code, and for names with a special meaning in the engine
 */
export function itemPath(code: string): string[] | undefined {
	const [, steps] = /^\s*\$json((?:(?:\?\.|\.|\[)[\s\S]*?)?)\s*$/.exec(code) ?? [];
	if (steps === undefined) return undefined;
	const path: string[] = [];
	step.lastIndex = 0;
	while (step.lastIndex < steps.length) {
		const match = step.exec(steps);
		const key = match?.slice(1).find((name) => name !== undefined);
		if (key === undefined || isBuiltIn(key)) return undefined;
		path.push(key);
	}
	return path;
}

/**
 * The value at a path; undefined if a member is missing.
 *
 * @returns empty if the engine has to evaluate it: for a function, and for a path through a Date, a DateTime or the like,
 * whose members may be inherited
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

/** Whether the members of a value are its own, as in JSON. */
const isData = (value: NonNullable<unknown>): boolean =>
	typeof value === 'object' ? Array.isArray(value) || isPlainObject(value) : typeof value !== 'function';

/** `length`, `constructor`, `first` and the like may mean more than a key of the item. */
const isBuiltIn = (key: string): boolean => [Object, Array, String, Number, Boolean].some(({ prototype }) => key in prototype);

/** Whether a model fills in the value. A model has to fill in every field, even one that it has no value for. */
export function isFilledByModel(value: unknown): boolean {
	return typeof value === 'string' && /\$fromAI\s*\(/i.test(value.replace(comment, ' '));
}

/** Also matches after the slashes of a URL: such a value is treated as the user's. */
const comment = /\/\*[^]*?\*\/|\/\/.*/g;
