import { Webhook as Signer } from 'standardwebhooks';

/**
 * The headers of a delivery (Standard Webhooks 1.0.0), with one signature per secret, so that a
 * receiver may still use the previous one.
 *
 * @param time in milliseconds since 1970; receivers tolerate five minutes of difference
 */
export function signedHeaders(id: string, body: string, secrets: string[], time: number): Record<string, string> {
	const date = new Date(time);
	return {
		'webhook-id': id,
		'webhook-timestamp': String(Math.floor(time / 1000)),
		'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, date, body)).join(' '),
	};
}
