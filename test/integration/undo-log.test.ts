import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { IDataObject } from 'n8n-workflow';

import * as op from './parameters.ts';
import { useSandbox } from './sandbox.ts';
import { shortenWaits } from './short-waits.ts';
import { undoing } from './undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, results, add } = undoing(sandbox);

/** Undoes through a service whose log answers otherwise. */
async function undoThrough(change: (page: IDataObject[]) => IDataObject[], execution: string): Promise<unknown[]> {
	const server = createServer((request, response) => {
		const headers = { authorization: String(request.headers.authorization), 'content-type': 'application/json', 'idempotency-key': String(request.headers['idempotency-key'] ?? '') };
		void (async () => {
			const parts: Buffer[] = [];
			for await (const part of request) parts.push(part as Buffer);
			const isRead = request.method === 'GET';
			const { 'idempotency-key': _, ...plain } = headers;
			const answer = await fetch(sandbox.url + request.url!, { method: request.method!, headers: isRead ? plain : headers, ...(parts.length > 0 && { body: Buffer.concat(parts) }) });
			let text = await answer.text();
			if (request.url!.startsWith('/v1/events')) {
				const page = JSON.parse(text) as { data: IDataObject[]; total?: number };
				const data = change(page.data);
				text = JSON.stringify({ ...page, data, ...(page.total !== undefined && { total: page.total + data.length - page.data.length }) });
			}
			response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' }).end(text);
		})().catch(() => response.destroy());
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	try {
		const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		return results(await undoing({ ...sandbox, credential: { ...sandbox.credential, baseUrl } }).undo(execution));
	} finally {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	}
}

test('a log that hands out an event twice does not delete again what was created again', async () => {
	const contact = await add('contacts', { last_name: 'Repeated' });
	await as('l1', op.deleteRecord('contact', contact.id));
	expect(await undoThrough((page) => [...page, ...page.slice(-1)], 'l1')).toEqual(['undone']);
	expect((await sandbox.call('GET', '/v1/contacts?last_name=Repeated')).body.data).toHaveLength(1);
});
