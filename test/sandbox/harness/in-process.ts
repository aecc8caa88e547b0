import { type AppOptions, createApp } from '../../../sandbox/app.ts';
import { seed } from '../../../sandbox/seed/seed.ts';
import { Store } from '../../../sandbox/core/store/store.ts';
import { document } from './contract.ts';

type Methods = Record<string, { responses: object } | undefined>;

const paths: Record<string, Methods> = document.paths;

const templates = Object.keys(paths).map((path) => ({
	path,
	// A path without parameters comes first: /v1/users/me is not /v1/users/{id}.
	parameters: path.split('{').length,
	pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
templates.sort((a, b) => a.parameters - b.parameters);

/**
 * Checks that the contract describes a response.
 *
 * @throws Error if it does not
 */
function refuseUndescribed(method: string, url: string, status: number): void {
	const [pathname = ''] = url.split('?');
	const found = templates.find(({ pattern }) => pattern.test(pathname));
	const operation = found && paths[found.path]?.[method.toLowerCase()];
	if (!operation || String(status) in operation.responses) return;
	throw new Error(`The contract does not describe ${status} as a response to ${method} ${found.path}.`);
}

/** JSON of any shape. Each test says what it expects. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Reply {
	status: number;
	headers: Headers;
	/** The parsed body; a list of its lines if it is NDJSON, null if it is empty. */
	body: Json;
}

type HeaderValues = Record<string, string>;

/** Sends a request as one caller. */
export type Call = (method: string, path: string, body?: unknown, headers?: HeaderValues) => Promise<Reply>;

const apiKey = 'test-key';

export type InProcess = ReturnType<typeof inProcess>;

/**
 * The sandbox without a network: requests go straight into the app.
 *
 * @param contacts the number of contacts; custom fields always exist
 */
export function inProcess({
	contacts = 0,
	store = new Store(':memory:'),
	...options
}: Partial<AppOptions> & { contacts?: number } = {}) {
	seed(store, contacts, { day: '2025-07-01' });
	store.apiKeys.add('key_test', apiKey);
	const app = createApp({ store, requestsPerMinute: 1_000_000, ...options });

	/** Calls with the API key. */
	const send: Call = async (method, path, body, headers) => {
		const isText =
			typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
		const response = await app.request(path, {
			method,
			headers: {
				Authorization: `Bearer ${apiKey}`,
				...(body !== undefined && { 'Content-Type': 'application/json' }),
				...headers,
			},
			...(body !== undefined && { body: isText ? (body as string) : JSON.stringify(body), duplex: 'half' }),
		});
		// The contract does not know responses that tests set as faults.
		if (!options.faults) refuseUndescribed(method, path, response.status);
		const text = await response.text();
		const isLines = response.headers.get('Content-Type') === 'application/x-ndjson';
		const parsed = isLines ? parseLines(text) : text === '' ? null : JSON.parse(text);
		return { status: response.status, headers: response.headers, body: parsed };
	};

	return {
		store,
		send,
		get: (path: string, headers?: HeaderValues) => send('GET', path, undefined, headers),
		post: (path: string, body: unknown, headers?: HeaderValues) => send('POST', path, body, headers),
		put: (path: string, body: unknown, headers?: HeaderValues) => send('PUT', path, body, headers),
		patch: (path: string, body: unknown, headers?: HeaderValues) => send('PATCH', path, body, headers),
		delete: (path: string, headers?: HeaderValues) => send('DELETE', path, undefined, headers),
		/** Every record of a list, page by page. */
		async all(path: string): Promise<Json[]> {
			const records: unknown[] = [];
			let cursor: string | null = '';
			while (cursor !== null) {
				const separator = path.includes('?') ? '&' : '?';
				const { body } = await send('GET', cursor ? `${path}${separator}cursor=${cursor}` : path);
				records.push(...body.data);
				cursor = body.next_cursor;
			}
			return records;
		},
	};
}

/** Newline-delimited JSON: every line ends with a newline. */
const parseLines = (text: string): Json[] =>
	text === '' ? [] : text.split(/(?<=\n)/).map((line) => JSON.parse(line));

/** The error codes of a problem, by field or parameter. */
export const errorsOf = ({ body }: Reply): Record<string, string> =>
	Object.fromEntries(body.errors.map((error: Json) => [error.pointer ?? error.parameter, error.code]));
