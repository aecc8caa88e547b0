import { getOrCreate } from './maps';
import { resultOrError } from './results';

/** Maximum characters; patterns of fields have dozens. */
const maxPatternLength = 500;

/**
 * Whether a regular expression from a description is fast for any text. One that repeats a group of repetitions, such
 * as `(a+)+$`, can block n8n for hours on 40 characters
 * (https://owasp.org/www-community/attacks/Regular_expression_Denial_of_Service_-_ReDoS). Some safe patterns are
 * refused, too. Refused patterns are ignored.
 */
export function isSafePattern(pattern: string): boolean {
	if (pattern.length > maxPatternLength || /\\[1-9k]/.test(pattern)) return false;
	if (resultOrError(() => new RegExp(pattern, 'u')) instanceof Error) return false;
	const simple = pattern.replace(separatedGroup, 'x+').replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
	const plain = simple.replace(/\(\?(?:<\w+>|[:=!]|<[=!])/g, '(');
	const count = (regExp: RegExp) => plain.match(regExp)?.length ?? 0;
	const isRepeated = /\)(?:[*+]|\{)/.test(plain);
	const varies = /[*+?|]|\{\d+,/.test(plain.replace(/\)[*+?]/g, ')'));
	// In a sequence, each repetition may multiply the time by the length of the text, and each `?` by two.
	// Repetitions may be nested.
	const areRepeated = count(/\)(?:[*+]|\{\d+,)/g) > 1;
	return !(isRepeated && varies) && !areRepeated && count(/[*+]|\{\d+,/g) <= 3 && count(/\?/g) <= 10;
}

/** Repeated parts that begin with a separator and do not contain it, as in `en-US`: only one division matches. */
const separatedGroup = /\((?:\?:)?[-.,:;/ ]\[(?:[A-Za-z\d](?:-[A-Za-z\d])?)+\](?:\{\d+(?:,\d*)?\}|[+*])?\)(?:[*+?]|\{\d+(?:,\d*)?\})/g;

const compiledPatterns = new Map<string, RegExp | undefined>();

/** The regular expression; undefined if it is invalid or may be slow. */
export function safeRegExp(pattern: string): RegExp | undefined {
	// A service has few patterns, and every write uses one.
	if (compiledPatterns.size > 1_000) compiledPatterns.clear();
	return getOrCreate(compiledPatterns, pattern, () => (isSafePattern(pattern) ? new RegExp(pattern, 'u') : undefined));
}
