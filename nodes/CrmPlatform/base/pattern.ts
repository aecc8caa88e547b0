import { getOrCreate } from './maps';

/** Maximum characters; patterns of fields have dozens. */
const maxPatternLength = 500;

/**
 * Whether a regular expression from a description is fast for any text. One that repeats a group of repetitions, such
 * as `(a+)+$`, can block n8n for hours on 40 characters
 * (https://owasp.org/www-community/attacks/Regular_expression_Denial_of_Service_-_ReDoS). All that repeat a group are
 * refused, also safe ones. Refused patterns are ignored.
 */
export function isSafePattern(pattern: string): boolean {
	if (pattern.length > maxPatternLength || !isRegExp(pattern) || /\\[1-9k]/.test(pattern)) return false;
	const plain = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
	const count = (regExp: RegExp) => plain.match(regExp)?.length ?? 0;
	// In a sequence, each repetition may multiply the time by the length of the text, and each `?` by two.
	return !/\)(?:[*+]|\{)/.test(plain) && count(/[*+]|\{\d+,/g) <= 3 && count(/\?/g) <= 10;
}

const compiledPatterns = new Map<string, RegExp | undefined>();

/** The regular expression; undefined if it is invalid or may be slow. */
export function safeRegExp(pattern: string): RegExp | undefined {
	// A service has few patterns, and every write uses one.
	if (compiledPatterns.size > 1_000) compiledPatterns.clear();
	return getOrCreate(compiledPatterns, pattern, () => (isSafePattern(pattern) ? new RegExp(pattern, 'u') : undefined));
}

function isRegExp(pattern: string): boolean {
	try {
		return Boolean(new RegExp(pattern, 'u'));
	} catch {
		return false;
	}
}
