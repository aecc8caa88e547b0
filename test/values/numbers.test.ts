import fc from 'fast-check';

import { parseJson } from '../../nodes/CrmPlatform/base/json';
import { exactNumber } from '../../nodes/CrmPlatform/base/numbers';
import { randomRuns } from '../support/random-runs.ts';

const digits = (maxDigits: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${maxDigits}}$`));
/** Numbers as JSON writes them, most with more digits than JavaScript keeps. */
const numberText = fc
	.tuple(
		fc.constantFrom('', '-'),
		digits(25),
		fc.option(digits(25), { nil: undefined }),
		fc.option(fc.integer({ min: -400, max: 400 }), { nil: undefined }),
	)
	.map(
		([sign, integer, fraction, exponent]) =>
			`${sign}${integer.replace(/^0+(?=\d)/, '')}${fraction === undefined ? '' : `.${fraction}`}${exponent === undefined ? '' : `e${exponent}`}`,
	);

/** The value as a fraction of whole numbers, which JavaScript never rounds. */
function fractionOf(text: string): [bigint, bigint] {
	const [, sign = '', integer = '', fraction = '', exponent = '0'] = /^(-?)(\d+)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text)!;
	const shift = Number(exponent) - fraction.length;
	const value = BigInt(sign + integer + fraction);
	return shift >= 0 ? [value * 10n ** BigInt(shift), 1n] : [value, 10n ** BigInt(-shift)];
}
const isEqual = (first: string, second: string) => {
	const [[a, b], [c, d]] = [fractionOf(first), fractionOf(second)];
	return a * d === c * b;
};

test('no digit of a number changes: it is read as that number, or as its text', () => {
	fc.assert(
		fc.property(numberText, fc.constantFrom('', ' ', '\n'), (text, space) => {
			const inside = `{"a":${space}${text}${space},"b":[1,${text}],"c":"${text}",${space}"d":{"${text}":null}}`;
			const read = parseJson(inside) as { a: unknown; b: unknown[]; c: unknown; d: object };
			expect(read.b).toEqual([1, read.a]);
			expect([read.c, Object.keys(read.d)]).toEqual([text, [text]]);
			expect(parseJson(text)).toEqual(read.a);
			if (typeof read.a === 'number') expect(isEqual(String(read.a), text)).toBe(true);
			else expect(read.a).toBe(text);
			const number = exactNumber(text);
			if (number !== undefined) expect(isEqual(String(number), text)).toBe(true);
			else expect(isEqual(String(Number(text)).replace(/^-?Infinity$/, '0.5'), text)).toBe(false);
		}),
		randomRuns(2_000),
	);
});

test('anything else is read as by JSON.parse, including invalid JSON', () => {
	const text = fc.oneof(
		fc.json(),
		fc.stringMatching(/^[[\]{},:"\\ 0-9eE.+-]{0,60}$/),
		fc.tuple(fc.json(), fc.stringMatching(/^[[\]{},:" 0-9]{0,25}$/)).map(([start, end]) => start + end),
	);
	// Replaces the text of a number with the number that JavaScript would have read.
	const plain = (value: unknown): unknown =>
		JSON.stringify(value, (_, member: unknown) =>
			typeof member === 'number' || (typeof member === 'string' && /^-?\d/.test(member)) ? String(Number(member)) : member,
		);
	fc.assert(
		fc.property(text, (json) => {
			let expected: unknown;
			try {
				expected = JSON.parse(json);
			} catch {
				expect(parseJson(json)).toBeUndefined();
				return;
			}
			expect(plain(parseJson(json))).toEqual(plain(expected));
		}),
		randomRuns(3_000),
	);
});

test('ids of one service have one type: whole numbers from 2^53 on are texts, and all differ', () => {
	const ids = parseJson('[9007199254740991, 9007199254740992, 9007199254740993, -9007199254740993, 1e21]');
	expect(ids).toEqual([9007199254740991, '9007199254740992', '9007199254740993', '-9007199254740993', '1e21']);
});

test('decimals that JavaScript stores exactly stay numbers', () => {
	expect(parseJson('[0.1, 0.30000000000000004, 1234567890.12345, 1e-21, 12.50000000000000000, 2.5e-7]')).toEqual([
		0.1, 0.30000000000000004, 1234567890.12345, 1e-21, 12.5, 2.5e-7,
	]);
	expect(parseJson('[0.1000000000000000055, 1e400, 1e-400]')).toEqual(['0.1000000000000000055', '1e400', '1e-400']);
});
