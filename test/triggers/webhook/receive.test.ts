import { EventEmitter } from 'node:events';

import { Webhook } from 'standardwebhooks';

import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import { type DeliveryResponse, noteDelivery } from '../../../nodes/CrmPlatform/trigger/webhook/receive';
import { explainForged } from '../../../nodes/CrmPlatform/trigger/webhook/signature';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const now = 1_614_265_330_000;
const seconds = 1_000;

/** The reference library signs; what it makes has to be genuine, and nothing else may be. */
function signed(text: string, by: string[] = [secret], at = now) {
	const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
	return {
		id,
		timestamp: String(at / seconds),
		signature: by.map((signingSecret) => new Webhook(signingSecret).sign(id, new Date(at), text)).join(' '),
		body: Buffer.from(text),
	};
}

const genuine = signed('{"test": 2432232314}');

test('the example of the standard is genuine', () => {
	const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
	expect(genuine.signature).toBe(signature);
	expect(explainForged({ ...genuine, signature }, secret, now)).toBeUndefined();
	expect(explainForged({ ...genuine, signature }, secret.replace('whsec_', ''), now)).toBeUndefined();
});

test.each([
	['empty', ''],
	['an object', '{}'],
	['text in other scripts', '{"name":"Zoë 漢字 \\u00e9"}'],
	['spaces and a line feed', '{ "a" : 1 }\n'],
	['100 kB', ' '.repeat(100_000)],
])(
	'a signature of the reference library is genuine: %s',
	(_, text) => expect(explainForged(signed(text), secret, now)).toBeUndefined(),
);

test('one changed byte makes it forged', () => {
	const changed = Buffer.from(genuine.body);
	changed[3]! += 1;
	const { id, timestamp } = genuine;
	for (const part of [{ body: changed }, { id: `${id}x` }, { timestamp: `${Number(timestamp) + 1}` }]) {
		expect(explainForged({ ...genuine, ...part }, secret, now)).toMatch(/wrong/);
	}
	expect(explainForged({ ...genuine, body: genuine.body.subarray(0, -1) }, secret, now)).toMatch(/wrong/);
});

test('during a rotation either secret is accepted, whichever signature is first', () => {
	for (const both of [signed('{}', [secret, other]), signed('{}', [other, secret])]) {
		expect(explainForged(both, secret, now)).toBeUndefined();
		expect(explainForged(both, other, now)).toBeUndefined();
	}
	expect(explainForged(signed('{}', [other]), secret, now)).toMatch(/wrong/);
});

test('five minutes are tolerated in both directions, and no more', () => {
	const late = (s: number) => explainForged(genuine, secret, now + s * seconds);
	expect([late(0), late(300), late(-300)]).toEqual([undefined, undefined, undefined]);
	expect(late(301)).toMatch(/too old/);
	expect(late(-301)).toMatch(/future/);
});

test.each([
	['no secret', {}, undefined, /secret/],
	['an empty secret', {}, '', /secret/],
	['a secret of nothing but its prefix', {}, 'whsec_', /secret/],
	['a masked secret', {}, 'whsec_************LaSw', /secret/],
	['a secret that is cut short', {}, 'whsec_LaSw', /secret/],
	['no id', { id: undefined }, secret, /not signed/],
	['an empty id', { id: '' }, secret, /not signed/],
	['no time', { timestamp: undefined }, secret, /not signed/],
	['an invalid time', { timestamp: '1e9' }, secret, /time/],
	['a negative time', { timestamp: '-1614265330' }, secret, /time/],
	['no signature', { signature: undefined }, secret, /not signed/],
	['an empty signature', { signature: '' }, secret, /not signed/],
	['a signature without its value', { signature: 'v1,' }, secret, /signature is wrong/],
	['a signature without its version', { signature: genuine.signature.slice(3) }, secret, /signature is wrong/],
	['another version of signatures', { signature: genuine.signature.replace('v1', 'v1a') }, secret, /signature is wrong/],
	['a signature cut short', { signature: genuine.signature.slice(0, -5) }, secret, /signature is wrong/],
])('%s fails', (_, part, key, reason) => {
	expect(explainForged({ ...genuine, ...part }, key, now)).toMatch(reason);
});

beforeEach(clearProcessMemory);

/** An answer that n8n has not given yet. */
class Pending extends EventEmitter implements DeliveryResponse {
	statusCode = 200;
	writableEnded = false;

	give(statusCode: number): void {
		this.statusCode = statusCode;
		this.writableEnded = true;
		this.emit('close');
	}
}

test('a retry of a sender that stopped waiting is held back until n8n has responded', () => {
	const answer = new Pending();
	noteDelivery('a', answer);
	answer.emit('close');
	expect(noteDelivery('a', new Pending())).toBe('under way');
	answer.give(200);
	expect(noteDelivery('a', new Pending())).toBe('known');
});

test('memory is bounded: the oldest are forgotten', () => {
	for (let i = 0; i <= 20_000; i++) {
		const answer = new Pending();
		noteDelivery(`${i}`, answer);
		answer.give(200);
	}
	expect(noteDelivery('1', new Pending())).toBe('known');
	expect(noteDelivery('0', new Pending())).toBe('new');
});
