import { Problem } from '../foundation/problem.ts';

/** In a body or a line; more than a batch of a hundred full records has. */
const mostValues = 100_000;
const mostLevels = 40;
/** In one list or object; twice as many as any field takes. */
const mostMembers = 1000;

const [quote, comma, escape] = [0x22, 0x2c, 0x5c];
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/**
 * Refuses text that no record or batch looks like, before it is parsed: parsing would take long.
 *
 * @throws Problem validation_failed
 */
export function refuseOddText(text: string): void {
	let values = 0;
	let level = 0;
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		if (code === quote) {
			i = endOfString(text, i);
		} else if (opening.has(code)) {
			values += 1;
			level += 1;
			if (level > mostLevels) throw tooMuch(`Lists and objects may be nested in at most ${mostLevels} levels.`);
		} else if (closing.has(code)) {
			level -= 1;
		} else if (code === comma) {
			values += 1;
		}
		if (values > mostValues) throw tooMuch('A body may have at most 100,000 values in all. Send it in smaller parts.');
	}
}

/** The place of the quotation mark that ends a string. */
function endOfString(text: string, start: number): number {
	for (let i = start + 1; i < text.length; i++) {
		const code = text.charCodeAt(i);
		if (code === quote) return i;
		if (code === escape) i += 1;
	}
	return text.length;
}

/**
 * Refuses lists and objects that are longer than any field takes: validating them would take long.
 *
 * @throws Problem validation_failed
 */
export function refuseManyMembers(value: unknown): void {
	if (typeof value !== 'object' || value === null) return;
	const members = Object.values(value);
	if (members.length > mostMembers) {
		throw tooMuch(`A list or an object may have at most ${mostMembers} members.`);
	}
	for (const member of members) refuseManyMembers(member);
}

const tooMuch = (detail: string): Problem =>
	new Problem('validation_failed', detail, { errors: [{ pointer: '', code: 'too_long', detail }] });
