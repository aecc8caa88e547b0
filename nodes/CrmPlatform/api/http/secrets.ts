import { percentDecoded } from './path';

/** A web address without anything that may be secret. */
export const shownUrl = (url: string): string =>
	/^https?:/i.test(url) && URL.canParse(url) ? new URL(url).origin : 'the URL in the credential';

/** A text in which each URL is reduced to what may be shown of it. */
export const withShownUrls = (text: string): string =>
	text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, (url) => shownUrl(url));

/** Minimum length of a secret: shorter texts also occur in ordinary words. */
const minSecretLength = 8;

/** The parts of a URL that may be secret, encoded and decoded. */
export function secretsIn(url: string): string[] {
	if (!URL.canParse(url)) return [];
	const { username, password, pathname, searchParams, search, hash } = new URL(url);
	const rawQueryValues = search.slice(1).split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
	// A word such as `openapi.json` is not secret.
	const segments = pathname.split('/').filter((segment) => /\d/.test(segment) || segment.length >= 16);
	return [
		username, password, percentDecoded(password), hash.slice(1), ...searchParams.values(), ...rawQueryValues,
		...segments, ...segments.map(percentDecoded),
	];
}

/** Replaces secrets in the texts of a JSON value by an ellipsis: services repeat them in errors. */
export function withoutSecrets<Value>(value: Value, secrets: readonly string[]): Value {
	const longSecrets = secrets.filter(({ length }) => length >= minSecretLength);
	const redact = (part: unknown): unknown => {
		if (typeof part === 'string') return longSecrets.reduce((text, secret) => text.split(secret).join('…'), part);
		if (Array.isArray(part)) return part.map(redact);
		if (typeof part !== 'object' || part === null) return part;
		return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, redact(inner)]));
	};
	return longSecrets.length > 0 ? (redact(value) as Value) : value;
}
