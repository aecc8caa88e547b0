import { isPlainObject } from './ownMembers';

/**
 * Numbers with more digits than JavaScript keeps (IEEE 754 doubles): 9007199254740993 would become
 * 9007199254740992, which may be the id of another record. Such numbers are read as text, digit by digit.
 */

/** Matches every such number, and some texts that look like one, in half the time that JSON.parse takes. */
const mayBeInexactNumber = /(?<=[:,[\s]|^)-?(?:\d[\d.eE+-]{15,}|\d[\d.]*[eE][+-]?\d{2,})(?=\s*(?:[,\]}]|$))/;

/** A text, or a number where JSON may have a value (RFC 8259). */
const textOrNumber =
	/"[^"\\]*(?:\\.[^"\\]*)*"|(?<=[[:,\s]|^)-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*(?:[,\]}]|$))/g;

/** Makes every number that JavaScript would change a text of the same digits. @param json well-formed */
export function withExactNumbers(json: string): string {
	if (!mayBeInexactNumber.test(json)) return json;
	return json.replace(textOrNumber, (token) =>
		token.startsWith('"') || (token.length < 16 && !/e/i.test(token)) || survivesParsing(token) ? token : `"${token}"`,
	);
}

/** From 2^53 on, every whole number becomes text, so that all ids of a service have one type. */
function survivesParsing(token: string): boolean {
	const number = exactNumber(token);
	return number !== undefined && !isRounded(number);
}

/** The number in a text; undefined if it is not a decimal number (`0x1F`), or if JavaScript would change its value. */
export function exactNumber(text: string): number | undefined {
	const number = Number(text);
	if (text.trim() === '' || !Number.isFinite(number)) return undefined;
	const canonicalText = decimal(text.trim());
	return canonicalText !== undefined && canonicalText === decimal(String(number)) ? number : undefined;
}

/** A canonical text of a number: `12.50` and `1.25e1` become equal. */
function decimal(text: string): string | undefined {
	const [, sign, integerPart = '', fraction = '', exponent = '0'] =
		/^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
	if (sign === undefined) return undefined;
	const digits = (integerPart + fraction).replace(/^0+/, '');
	const significant = digits.replace(/0+$/, '');
	if (significant === '') return '0';
	return `${sign === '-' ? '-' : ''}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Whether a text is a decimal number, of any size and precision. */
export const isDecimal = (text: string): boolean => /\d/.test(text) && decimal(text.trim()) !== undefined;

/** Whether a number may already have lost digits: from 2^53 on, JavaScript rounds. */
const isRounded = (value: unknown): value is number =>
	typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);

/** Maximum nesting of objects and lists. At some 5,000 levels, JSON.stringify fails. */
export const maxLevels = 500;

/**
 * @param label of the value, for the error
 * @throws Error in the user's words if the value has an `exactnessProblem`
 */
export function checkExact(label: string, value: unknown): void {
	const problem = exactnessProblem(value);
	if (problem !== undefined) throw new Error(`${label}: ${problem}`);
}

/** In the user's words: a value is or contains a number that may have lost digits, or is nested too deeply. */
export const exactnessProblem = (value: unknown): string | undefined =>
	problemOfLevels(value, (level) => {
		const rounded = level.find(isRounded);
		return rounded === undefined ? undefined : `${BigInt(rounded)} is so large that its last digits may already be lost. Pass it as text.`;
	});

/** In the user's words: a value is nested too deeply. */
export const depthProblem = (value: unknown): string | undefined => problemOfLevels(value, () => undefined);

function problemOfLevels(value: unknown, problemOf: (level: unknown[]) => string | undefined): string | undefined {
	let level = [value];
	for (let depth = 0; level.length > 0; depth += 1) {
		const problem = depth > maxLevels ? `the value is nested more than ${maxLevels} levels deep.` : problemOf(level);
		if (problem !== undefined) return problem;
		level = level.flatMap((element) => (Array.isArray(element) || isPlainObject(element) ? (Object.values(element) as unknown[]) : []));
	}
	return undefined;
}

/** The whole number from 0 that a number or its digits are; undefined otherwise, and from 2^53 on: services mean “unknown” by those. */
export function wholeNumber(value: unknown): number | undefined {
	const number = typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value;
	return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
