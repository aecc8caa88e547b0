import { createHmac, timingSafeEqual } from 'node:crypto';

interface Signed {
	/** The headers webhook-id, webhook-timestamp and webhook-signature. */
	id: string | undefined;
	timestamp: string | undefined;
	signature: string | undefined;
	/** The exact bytes. */
	body: Uint8Array;
}

/** Seconds by which clocks may differ. An older delivery may be a replay. */
export const tolerance = 5 * 60;

/**
 * Verifies a delivery as Standard Webhooks 1.0.0 demands: `v1,<base64 HMAC-SHA256>` of
 * `id.timestamp.body`. After a rotation the header has one signature for each valid secret.
 *
 * @param secret `whsec_` and base64
 * @param now Unix epoch milliseconds
 * @returns the reason to refuse it; undefined if it is genuine
 */
export function explainForged({ id, timestamp, signature, body }: Signed, secret = '', now: number): string | undefined {
	if (!isSecret(secret)) return 'This trigger has no signing secret';
	if (!id || !timestamp || !signature) return 'The delivery is not signed';
	if (!/^\d{1,12}$/.test(timestamp)) return 'The time of the delivery cannot be read';
	const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
	const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
	const isGenuine = signature.split(' ').some((versionedSignature) => isSame(versionedSignature, expected));
	if (!isGenuine) return 'The signature is wrong';
	const age = now / 1000 - Number(timestamp);
	if (age > tolerance) return 'The delivery is too old';
	return age < -tolerance ? 'The delivery is from the future' : undefined;
}

/** Whether a text is a complete secret, neither masked nor cut off. */
export const isSecret = (text: string): boolean => /^(whsec_)?[A-Za-z0-9+/_-]{16,}={0,2}$/.test(text);

function isSame(versionedSignature: string, expected: Buffer): boolean {
	const [version, signature = ''] = versionedSignature.split(',');
	const actual = Buffer.from(signature, 'base64');
	return version === 'v1' && actual.length === expected.length && timingSafeEqual(actual, expected);
}
