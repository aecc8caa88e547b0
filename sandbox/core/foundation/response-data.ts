import { nextTurn } from './background.ts';

/** A response as data, which can be stored and replayed. */
export interface ResponseData {
	status: number;
	headers: Record<string, string>;
	body: string | null;
	/** The id of the webhook secret that is added to the body when it is sent. Responses are stored without secrets. */
	secretId?: number;
	/** The id of the record in the body, if the body is a record. */
	id?: string;
}

export const jsonResponse = (status: number, body: unknown): ResponseData => ({
	status,
	headers: { 'Content-Type': 'application/json' },
	body: JSON.stringify(body),
});

export const toResponse = (response: ResponseData): Response =>
	new Response(response.body, { status: response.status, headers: response.headers });

/** Number of characters of a page that are sent at once, which takes a few tenths of a millisecond. */
const sentAtOnce = 64 * 1024;

/**
 * A page of a list. A large page is encoded and sent in pieces, one per turn of the event loop, so that
 * other requests do not wait for all of it.
 *
 * @param data the JSON of each record
 */
export function listResponse(data: string[], cursor: string | null, total: number): Response {
	const end = `],"next_cursor":${JSON.stringify(cursor)},"total":${total}}`;
	const texts = ['{"data":[', ...data.flatMap((text, i) => (i === 0 ? text : [',', text])), end];
	const size = texts.reduce((sum, { length }) => sum + length, 0);
	const body = size > sentAtOnce ? ReadableStream.from(piecesOf(texts)) : texts.join('');
	return new Response(body, { headers: { 'Content-Type': 'application/json' } });
}

const encoder = new TextEncoder();

/** Joins short texts. Long ones are not joined, because that would copy them. */
async function* piecesOf(texts: string[]): AsyncGenerator<Uint8Array> {
	let joined = '';
	for (const text of texts) {
		if (joined.length + text.length <= sentAtOnce) {
			joined += text;
			continue;
		}
		yield* encoded(joined);
		joined = '';
		if (text.length > sentAtOnce) yield* encoded(text);
		else joined = text;
	}
	yield* encoded(joined);
}

/** Encodes a text in pieces that never split a character. */
async function* encoded(text: string): AsyncGenerator<Uint8Array> {
	for (let start = 0; start < text.length; ) {
		await nextTurn();
		const bytes = new Uint8Array(sentAtOnce);
		const { read, written } = encoder.encodeInto(text.slice(start), bytes);
		start += read;
		yield bytes.subarray(0, written);
	}
}
