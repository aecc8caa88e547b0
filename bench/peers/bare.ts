import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';
import { bareContacts, inBatches } from '../bare-loop.ts';
import type { Server } from '../server-process.ts';
import type { PeerTask } from './subjects.ts';

const host = 'https://api.bare-loop.example';

/** A few lines of script that do what the connector does, over kept-alive connections. */
export function bareLoop(): (task: PeerTask, items: object[]) => Promise<unknown[]> {
	let agent = new Agent({ keepAlive: true });
	const call: Server['call'] = (method, path, body, more = {}) =>
		new Promise((resolve, reject) => {
			const headers = {
				authorization: 'Bearer KEY',
				...(body !== undefined && {
					'content-type': 'application/json',
					'content-length': Buffer.byteLength(body),
				}),
				...more,
			};
			const outgoing = request(host + path, { method, headers, agent }, (response) => {
				const chunks: Buffer[] = [];
				response.on('data', (chunk: Buffer) => chunks.push(chunk));
				response.on('end', () => {
					if (response.statusCode! < 300) return resolve(Buffer.concat(chunks).toString());
					reject(new Error(`${method} ${path} was answered with ${response.statusCode}`));
				});
			});
			outgoing.on('error', reject);
			outgoing.end(body);
		});
	const server: Server = { url: host, call, closeConnections: () => agent.destroy() };

	return async (task, items) => {
		// Connections are kept alive within a run: the next run may use another server.
		agent.destroy();
		agent = new Agent({ keepAlive: true });
		if (task === 'list') return await bareContacts(server, 'limit=500');
		const allResults: unknown[] = [];
		await inBatches(items, async (batch) => {
			const key = { 'idempotency-key': randomUUID() };
			const text = await call('POST', `/v1/contacts/batch/${task}`, JSON.stringify({ items: batch }), key);
			const { results } = JSON.parse(text) as { results: unknown[] };
			allResults.push(...results);
		});
		return allResults;
	};
}
