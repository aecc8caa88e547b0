/** The host of a URL, without anything that may be secret. */
export function shownUrl(url: string): string {
	const parsed = parse(url);
	const isWeb = /^https?:/i.test(url);
	// A single word may be the secret.
	if (!parsed || (!isWeb && !/[.:]/.test(parsed.host))) return 'the address in the credential';
	return isWeb ? parsed.origin : parsed.host;
}

/** Also parses URLs without a scheme: in `localhost:80/x`, `localhost` would count as the scheme. */
const parse = (url: string): URL | undefined =>
	[url, `https://${url}`].filter((one) => URL.canParse(one)).map((one) => new URL(one)).find(({ host }) => host !== '');

/** A text with everything that may be secret removed from its URLs. */
export const withShownUrls = (text: string): string =>
	text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, (url) => shownUrl(url));

/** Minimum length of a secret: shorter texts also occur in ordinary words. */
const minSecretLength = 8;

/** The parts of a URL that may be secret, as they are written in it and as they are sent. */
export function secretsIn(url: string): string[] {
	const parsed = parse(url);
	if (!parsed) return [];
	const { username, password, pathname, searchParams, search, hash } = parsed;
	const written = search.slice(1).split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
	// A word such as `openapi.json` is not secret.
	const steps = pathname.split('/').filter((step) => /\d/.test(step) || step.length >= 16);
	return [username, password, hash.slice(1), ...searchParams.values(), ...written, decoded(password), ...steps, ...steps.map(decoded)];
}

/** Replaces secrets in the texts of a JSON value by an ellipsis: services repeat them in errors. */
export function withoutSecrets<Value>(value: Value, secrets: readonly string[]): Value {
	const known = secrets.filter(({ length }) => length >= minSecretLength);
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
