import { Webhook as Signer } from 'standardwebhooks';

/**
 * The headers of a delivery (Standard Webhooks 1.0.0): one signature for each secret, so that a
 * receiver may still have the one before.
 *
 * @param time in milliseconds since 1970; receivers allow it to be five minutes off
 */
export function signedHeaders(
	id: string,
	body: string,
	secrets: string[],
	time: number,
): Record<string, string> {
	const date = new Date(time);
	return {
		'webhook-id': id,
		'webhook-timestamp': String(Math.floor(time / 1000)),
		'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, date, body)).join(' '),
	};
}
