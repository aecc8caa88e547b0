const space = String.raw`\s+`;
const word = String.raw`[A-Za-z_$][\w$]*`;
const number = String.raw`\d+(?:\.\d+)?(?![\w$.])`;
const text = String.raw`"(?:[^"\\\n\r\u2028\u2029]|\\[^\n\r])*"|'(?:[^'\\\n\r\u2028\u2029]|\\[^\n\r])*'`;
// Operators that read; those that write (`=`, `++`, `>>=`) are left out.
const operator = String.raw`=>|[=!]==?|[<>](?![<>])=?|&&|\|\||\?\?|\?\.|\+(?!\+)|-(?!-)|\*(?!\*)|%|!|\?|:|,|\.|[()[\]]`;
// After a value, a slash divides; after a parenthesis or a comma, it begins a regular expression. Elsewhere, either may be.
const division = String.raw`(?<=[\w$)\]"']\s*)(?<!\b(?:in|instanceof|new|typeof|void)\s*)\/(?![/*])`;
const pattern = String.raw`(?<=[(,]\s*)\/(?![/*])(?:[^/\\[\]"'\n\r]|\\[^"'\n\r]|\[(?:[^\]\\"'\n\r]|\\[^"'\n\r])*\])+\/[a-z]*`;
const lexer = new RegExp([space, word, number, text, operator, division, pattern].join('|'), 'gy');

/** Words of statements, and words whose meaning depends on the surrounding code. */
const statementWords = new Set(
	`arguments async await break case catch class const continue debugger delete do else export
	finally for function global globalThis if import let return super switch this throw try var while
	window with yield`.split(/\s+/),
);

/** Methods that change their object or arguments: later fields would see the change. */
const changingNames = new Set(
	`assign constructor copyWithin defineProperties defineProperty fill pop push reverse setPrototypeOf
	shift sort splice unshift`.split(/\s+/),
);

const changingDates = /^set(UTC)?(Date|FullYear|Hours|Milliseconds|Minutes|Month|Seconds|Time|Year)$/;

const isChanging = (name: string): boolean => changingNames.has(name) || changingDates.test(name);

/** Signs of code that may write: an assignment, a method with a computed name, code in a text. Some matches do not write. */
const writes = /(?<![=!<>])=(?![=>])|<<=|>>=|\+\+|--|\]\s*(\?\.\s*)?[(`]|\\[ux]|\b(apply|bind|call|delete|eval|Function|Reflect|set)\b/;

/** Whether an expression that is not plain code may change its item: later fields would see the change. */
export function mayWrite(expression: string): boolean {
	return writes.test(expression.slice(1)) || (expression.match(/\w+/g) ?? []).some(isChanging);
}

/**
 * Whether JavaScript code has the same meaning alone and inside a larger expression: it is a single expression without
 * side effects. Unknown code is rejected, and then evaluated on its own.
 */
export const isPlainCode = (code: string): boolean => tokensOf(code) !== undefined;

/** Names that are allowed besides `$json`: they have the same value for all items, or the time of the evaluation. */
const namesForAll = new Set(
	'$json $now $today $if $ifEmpty $min $max $average $not $jmespath $jmesPath $vars $workflow $runIndex'.split(' '),
);

/** Whether plain code reads only `$json` of its item, and not `$itemIndex` or `$('Node').item`. */
export function readsOnlyJson(code: string): boolean {
	const tokens = tokensOf(code) ?? ['$'];
	return tokens.every((token, i) => {
		const isName = token.startsWith('$') && !isAccess(tokens[i - 1]);
		return !isName || namesForAll.has(token);
	});
}

/** The tokens of plain code; undefined for other code. */
function tokensOf(code: string): string[] | undefined {
	const all = code.match(lexer) ?? [];
	const tokens = all.filter((token) => token.trim() !== '');
	if (all.join('') !== code || tokens.length === 0 || !areClosed(tokens) || isRewritten(tokens)) return undefined;
	const isUnsafe = tokens.some((token, i) => {
		// A computed name may be that of any method.
		const isComputedCall = token === '(' && tokens[i - 1] === ']';
		return isComputedCall || isChanging(token) || (!isAccess(tokens[i - 1]) && statementWords.has(token));
	});
	return isUnsafe ? undefined : tokens;
}

function areClosed(tokens: string[]): boolean {
	const open: string[] = [];
	const isWrong = tokens.some((token) => {
		if (token === '(' || token === '[') open.push(token === '(' ? ')' : ']');
		return (token === ')' || token === ']') && open.pop() !== token;
	});
	return !isWrong && open.length === 0;
}

const isAccess = (token: string | undefined): boolean => token === '.' || token === '?.';

/**
 * Whether n8n may rewrite `?.`, as it does if the expression calls one of n8n's functions. The result differs from
 * JavaScript in loops, for computed keys, and in `?.()`, which loses its `this`.
 */
function isRewritten(tokens: string[]): boolean {
	if (tokens.some((token, i) => token === '?.' && tokens[i + 1] === '(')) return true;
	return tokens.includes('?.') && (tokens.includes('=>') || tokens.includes('['));
}
