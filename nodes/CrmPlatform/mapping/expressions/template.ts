import { itemPath } from './itemPath';
import { isPlainCode } from './plainCode';

/** A piece of an expression: text as it is, a way into the item, or code for n8n's engine. */
export type Piece = { text: string } | { path: string[] } | { code: string };

/**
 * Takes an expression apart: `=Dear {{ $json.name }}` is a text and a path.
 *
 * @param expression as n8n stores it, the equals sign first
 * @returns undefined for what has to be left whole to the engine, which alone knows its rules:
 * braces and backslashes where they may mean more, and code that isPlainCode() denies
 */
export function piecesOf(expression: string): Piece[] | undefined {
	const source = expression.slice(1);
	// The engine refuses the word after a dot even in text.
	if (/\.\s*constructor/.test(source)) return undefined;
	const pieces: Piece[] = [];
	for (const [index, part] of source.split(/\{\{([^{}]*)\}\}/).entries()) {
		const piece = index % 2 === 0 ? textPiece(part) : codePiece(part);
		if (!piece) return undefined;
		pieces.push(piece);
	}
	// Text around a single piece makes a text of it, even where the text is empty.
	return pieces.length === 3 && source.startsWith('{{') && source.endsWith('}}')
		? pieces.slice(1, 2)
		: pieces;
}

function textPiece(text: string): Piece | undefined {
	return /[{}\\]/.test(text) ? undefined : { text };
}

function codePiece(code: string): Piece | undefined {
	const path = itemPath(code);
	if (path) return { path };
	return isPlainCode(code) ? { code } : undefined;
}
