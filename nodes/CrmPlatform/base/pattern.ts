/** Characters; patterns of fields have some dozens. */
const maxPatternLength = 500;

/**
 * Whether a regular expression of a description takes little time for any text. One that repeats a
 * group of repetitions, such as `(a+)+$`, can hold n8n for hours on 40 characters
 * (https://owasp.org/www-community/attacks/Regular_expression_Denial_of_Service_-_ReDoS). Others may
 * be refused as well: they are treated as if they were not there.
 */
export function isSafePattern(pattern: string): boolean {
	if (pattern.length > maxPatternLength || !isRegExp(pattern) || /\\[1-9k]/.test(pattern)) return false;
	const plain = pattern.replace(separatedGroup, 'x+').replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x').replace(/\(\?(?:<\w+>|[:=!]|<[=!])/g, '(');
	const count = (regExp: RegExp) => plain.match(regExp)?.length ?? 0;
	const isRepeated = /\)(?:[*+]|\{)/.test(plain);
	const varies = /[*+?|]|\{\d+,/.test(plain.replace(/\)[*+?]/g, ')'));
	// In a sequence, each repetition may multiply the time by the length of the text, and each `?` by two.
	// Repetitions may be nested.
	const areRepeated = count(/\)(?:[*+]|\{\d+,)/g) > 1;
	return !(isRepeated && varies) && !areRepeated && count(/[*+]|\{\d+,/g) <= 3 && count(/\?/g) <= 10;
}

/** Parts that begin with a separator and cannot contain it, as in `en-US`, can be divided in only one way. */
const separatedGroup = /\((?:\?:)?[-.,:;/ ]\[(?:[A-Za-z\d](?:-[A-Za-z\d])?)+\](?:\{\d+(?:,\d*)?\}|[+*])?\)(?:[*+?]|\{\d+(?:,\d*)?\})/g;

const compiledPatterns = new Map<string, RegExp | undefined>();

/** The regular expression; undefined where it cannot be read, or may take for ever. */
export function safeRegExp(pattern: string): RegExp | undefined {
	// A cache: a service has a few patterns, and every write uses one.
	if (compiledPatterns.size > 1_000) compiledPatterns.clear();
	if (!compiledPatterns.has(pattern)) compiledPatterns.set(pattern, isSafePattern(pattern) ? new RegExp(pattern, 'u') : undefined);
	return compiledPatterns.get(pattern);
}

function isRegExp(pattern: string): boolean {
	try {
		return Boolean(new RegExp(pattern, 'u'));
	} catch {
		return false;
	}
}
