/**
 * A path with every value encoded, so that an id can never reach another endpoint.
 *
 * @throws Error in the user's words when a value is empty or would climb out of its place
 * (`.` and `..` survive encoding and are resolved away by every URL parser, RFC 3986 section 5.2.4).
 */
export function path(template: TemplateStringsArray, ...values: string[]): string {
	return template.reduce((built, literal, i) => {
		const value = values[i - 1] ?? '';
		if (value === '' || value === '.' || value === '..') {
			throw new Error(`'${value}' is not an id. Pick a record from the list or enter its id.`);
		}
		return built + encodeURIComponent(value) + literal;
	});
}

/**
 * A path whose names in braces are filled in: `/custom-objects/{objectKey}/records`.
 *
 * @param valueOf the value of a name; it is encoded
 * @throws what `path` throws
 */
export function filledPath(template: string, valueOf: (name: string) => string): string {
	return template.replace(/\{(\w+)\}/g, (_, name: string) => path`${valueOf(name)}`);
}

/**
 * A path as a user typed it, from the service's address on.
 *
 * @throws Error in the user's words when it is none, or would leave the service's address
 */
export function checkedPath(typed: string): string {
	const path = typed.trim();
	const [steps = ''] = path.split(/[?#]/);
	if (/^\/[^/\\]/.test(path) && steps === path && !/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) return path;
	throw new Error(
		`'${path}' is not a path such as /v1/contacts. It begins with a slash, without the base URL and without query parameters, which have a place of their own.`,
	);
}

/**
 * The address of the service as a user may have typed it, without what the connector adds itself:
 * a slash, the version prefix, or both at the end.
 *
 * @throws Error in the user's words when it is no http(s) address.
 */
export function serviceAddress(typed: string): string {
	const address = typed.trim();
	let url: URL | undefined;
	if (/^https?:\/\//i.test(address) && URL.canParse(address)) url = new URL(address);
	if (!url) {
		throw new Error(
			`The base URL '${address}' is not a web address. It starts with https:// (or http://), for example https://api.example.com.`,
		);
	}
	return (url.origin + url.pathname).replace(/\/+$/, '').replace(/\/v1$/i, '').replace(/\/+$/, '');
}

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** `?a=1&b=x,y`, or nothing: lists are joined by commas, what is undefined is left out. */
export function queryString(query: Query): string {
	const pairs = Object.entries(query)
		.filter(([, value]) => value !== undefined)
		.map(([name, value]) => {
			const text = Array.isArray(value) ? value.join(',') : String(value);
			return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
		});
	return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}
