import { resultOrError } from '../../base/results';

/** The path of a record type: `/contacts`, `/custom-objects/cars/records`, or with a name in braces, `/custom-objects/{key}/records`. */
export type Collection = `/${string}`;

/** The name of a collection, as people and links write it: `contacts`. */
export const collectionName = (collection: string): string => percentDecoded(collection.slice(1));

/** The path as requests and errors have it, with the version prefix: `/v1/contacts`. */
export const wholePath = (path: string): string => `/v1${path}`;

/** A path without the version prefix, which a document has in its paths or in the address of its server. */
export const withoutVersionPrefix = (path: string): string => path.replace(/^\/v1(?=\/)/, '');

/**
 * A path with every value encoded, so that no id leads to another endpoint. @throws Error in the user's words if a value is
 * empty, or is `.` or `..`, which encoding keeps and URL parsers resolve (RFC 3986, section 5.2.4)
 */
export function encodedPath(template: TemplateStringsArray, ...values: string[]): string {
	return template.reduce((built, literal, i) => {
		const value = values[i - 1] ?? '';
		if (value === '') throw new Error('The ID is empty. Pick a record from the list or enter its ID.');
		if (value === '.' || value === '..') {
			throw new Error(`“${value}” is not an ID. Pick a record from the list or enter its ID.`);
		}
		return built + encodeURIComponent(value) + literal;
	});
}

/**
 * Fills in the names in braces of a path: `/custom-objects/{objectKey}/records`.
 *
 * @param valueOf gives the value of a name, which is encoded
 * @throws as `encodedPath`
 */
export function filledPath(template: Collection, valueOf: (name: string) => string): Collection {
	return template.replace(/\{(\w+)\}/g, (_, name: string) => encodedPath`${valueOf(name)}`) as Collection;
}

/** A path without the names of its parameters, which may differ: `/custom-objects/{}/records`. */
export const withoutParameterNames = (path: string): string => path.replace(/\{\w+\}/g, '{}');

/**
 * A path that a user typed, relative to the service's address.
 *
 * @throws Error in the user's words if it is not a path, or would leave the service's address
 */
export function checkedPath(typed: string): string {
	const path = typed.trim();
	const [pathname = ''] = path.split(/[?#]/);
	if (/^\/[^/\\]/.test(path) && pathname === path && !/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) return path;
	throw new Error(`“${path}” is not a path such as /v1/contacts. Start it with a slash, and leave out the base URL and query parameters.`);
}

/**
 * The address of the service, without a trailing slash or the version prefix: the connector adds them.
 *
 * @param typed as the user entered it
 * @throws Error in the user's words if it is not an http(s) address
 */
export function serviceAddress(typed: string): string {
	const address = typed.trim();
	if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
		// It is not shown, as it may contain a key or a password.
		throw new Error('The base URL is not a URL. Enter one that starts with https:// or http://, such as https://api.example.com.');
	}
	const { origin, pathname } = new URL(address);
	return (origin + pathname).replace(/\/+$/, '').replace(/\/v1$/i, '').replace(/\/+$/, '');
}

/** A text without percent-encoding; a malformed text stays as it is. */
export function percentDecoded(text: string): string {
	const decoded = resultOrError(() => decodeURIComponent(text));
	return decoded instanceof Error ? text : decoded;
}

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** `?a=1&b=x,y`, or an empty text: lists are joined by commas, undefined values are left out. */
export function queryString(query: Query): string {
	const encoded = (item: unknown) => encodeURIComponent(String(item));
	// The commas that separate values are not encoded (RFC 6570, section 3.2.8).
	const pairs = Object.entries(query).flatMap(([name, value]) =>
		value === undefined ? [] : [`${encodeURIComponent(name)}=${[value].flat().map(encoded).join(',')}`],
	);
	return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}
