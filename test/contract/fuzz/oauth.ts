import * as fc from 'fast-check';
import type { Draft } from './requests.ts';
import { clientId } from './fuzzed-sandbox.ts';
import { encoded, oddText } from './values.ts';

const mostly = (usual: string, ...others: string[]) =>
	fc.oneof(
		{ weight: 6, arbitrary: fc.constantFrom(usual, ...others) },
		{ weight: 1, arbitrary: oddText },
	);

const parameters = {
	grant_type: mostly('refresh_token', 'authorization_code', 'password'),
	client_id: mostly(clientId),
	client_secret: mostly('secret', 'wrong'),
	code: mostly('«code»'),
	code_verifier: mostly('x'.repeat(43)),
	redirect_uri: mostly('http://localhost/callback'),
	refresh_token: mostly('«refresh»'),
	scope: mostly('contacts:read', 'contacts:read contacts:write', 'everything'),
	token: mostly('«refresh»'),
	token_type_hint: mostly('refresh_token', 'access_token'),
};

/** Most parameters once, some twice, as a form. */
const form = fc
	.array(
		fc.constantFrom(...Object.keys(parameters)).chain((name) => {
			const value = parameters[name as keyof typeof parameters];
			return fc.tuple(fc.oneof({ weight: 20, arbitrary: fc.constant(name) }, oddText), value);
		}),
		{ minLength: 2, maxLength: 9 },
	)
	.map((pairs) => pairs.map((pair) => pair.map(encoded).join('=')).join('&'));

const authorization = fc.oneof(
	{ weight: 8, arbitrary: fc.constant(undefined) },
	{ weight: 3, arbitrary: fc.constantFrom(`${clientId}:secret`, 'x', ':', '%zz:%', `${clientId}:`) },
);

/** Requests of clients to the token and revocation endpoints. */
export const oauthDrafts: fc.Arbitrary<Draft> = fc.record({
	method: fc.oneof({ weight: 20, arbitrary: fc.constant('POST') }, fc.constantFrom('GET', 'PUT')),
	path: fc.constantFrom('/oauth/token', '/oauth/revoke'),
	query: fc.constantFrom<Array<[string, string]>>([], [], [['grant_type', 'x']]),
	headers: fc
		.tuple(
			mostly('application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=UTF-8'),
			authorization,
		)
		.map(([type, credentials]) => ({
			'Content-Type': type.replace(/[^\x20-\x7e]/g, ''),
			...(credentials !== undefined && {
				Authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
			}),
		})),
	body: fc.oneof(
		{ weight: 20, arbitrary: form },
		{ weight: 1, arbitrary: oddText },
		{ weight: 1, arbitrary: fc.constantFrom('{"grant_type":"x"}', new Uint8Array([0xff, 0x3d])) },
	),
});
