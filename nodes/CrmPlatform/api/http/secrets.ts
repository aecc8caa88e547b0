/** A URL without what may be secret in it: user, password, query and fragment. */
export function shownUrl(url: string): string {
	const [plain = ''] = url.split(/[?#]/);
	return plain.replace(/^(\w+:)?\/\/[^/]*@/, '$1//');
}

/** A text whose URLs are without what may be secret in them. */
export const withShownUrls = (text: string): string =>
	text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, (url) => shownUrl(url));

/** Shorter texts stand in ordinary words, too. */
const shortest = 8;

/** The parts of a URL that may be secret, as they are written in it and as they are sent. */
export function secretsIn(url: string): string[] {
	if (!URL.canParse(url)) return [];
	const { username, password, searchParams, search, hash } = new URL(url);
	const written = search.slice(1).split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
	return [username, password, hash.slice(1), ...searchParams.values(), ...written, decoded(password)];
}

/** A value of JSON whose texts have an ellipsis in place of each secret: services repeat them in errors. */
export function withoutSecrets<Value>(value: Value, secrets: readonly string[]): Value {
	const known = secrets.filter(({ length }) => length >= shortest);
	const shown = (one: unknown): unknown => {
		if (typeof one === 'string') return known.reduce((text, secret) => text.split(secret).join('…'), one);
		if (Array.isArray(one)) return one.map(shown);
		if (typeof one !== 'object' || one === null) return one;
		return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, shown(inner)]));
	};
	return known.length > 0 ? (shown(value) as Value) : value;
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
