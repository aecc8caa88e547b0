import * as fc from 'fast-check';
import { oddText, rarely } from './values.ts';

/** What may stand in a header at all (RFC 9110, 5.5). */
const odd = oddText.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 1000));

const oddCredentials = fc.oneof(odd, fc.constantFrom('Bearer', 'Bearer x', 'Basic eDp5'));
const oddType = fc.oneof(odd, fc.constantFrom('text/plain', 'application/json;charset=x'));
/** The same key is used often, with other requests. */
const someKey = fc.oneof(odd, fc.constantFrom('again', 'again'));
const someTag = fc.oneof(odd, fc.constantFrom('*', '"1"', '"1", "2"', 'W/"1"', '"'));

type Pairs = Array<[string, string]>;

/** @param type of the body, if there is to be one */
export function headersOf(
	method: string,
	type: string | undefined,
): fc.Arbitrary<Record<string, string>> {
	const some = (name: string, value: fc.Arbitrary<string>, usual: Pairs, weight: number) =>
		rarely<Pairs>(value.map((text) => [[name, text]]), usual, weight);
	const isRead = method === 'GET';
	return fc
		.tuple(
			some('Authorization', oddCredentials, [['Authorization', 'Bearer «key»']], 30),
			some('Content-Type', oddType, type === undefined ? [] : [['Content-Type', type]], 20),
			some('Idempotency-Key', someKey, [], isRead ? 30 : 6),
			some('If-Match', someTag, [], isRead ? 30 : 8),
			some('Accept', fc.oneof(odd, fc.constant('text/html')), [], 30),
		)
		.map((headers) => Object.fromEntries(headers.flat()));
}
