import type { Reply } from './in-process.ts';

/**
 * Calls a running sandbox.
 *
 * @param token an API key or an access token
 * @param body sent as JSON
 */
export async function callService(
	url: string, token: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {},
): Promise<Reply> {
	return await replyOf(
		await fetch(url + path, {
			method,
			headers: { Authorization: `Bearer ${token}`, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
			...(body !== undefined && { body: JSON.stringify(body) }),
		}),
	);
}

/** Reads a response whose body is JSON, or empty. */
export async function replyOf(response: Response): Promise<Reply> {
	const text = await response.text();
	const { status, headers } = response;
	return { status, headers, body: text === '' ? null : JSON.parse(text) };
}
