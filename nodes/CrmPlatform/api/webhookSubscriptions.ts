import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import type { Connection } from './connection';
import { undefinedIfGone } from './refusals';
import { encodedPath } from './http/path';
import { readPages } from './lists/pages';
import type { WriteDescription } from './openapi/writing';

const collection = '/webhooks';

export const subscriptionPath = (id: string): string => collection + encodedPath`/${id}`;

export async function createSubscription(api: Connection, body: IDataObject): Promise<unknown> {
	const create = (await api.describe('/webhooks'))?.create;
	const created = await api.send({ method: 'POST', path: collection, body, ...newKeyFor(create) });
	return created.body;
}

export async function deleteSubscription(api: Connection, id: string): Promise<void> {
	await undefinedIfGone(api.send({ method: 'DELETE', path: subscriptionPath(id) }));
}

/** Those whose description begins with `prefix`: others are another program's. Only those with `url`, if the service can filter by it. */
export async function* listSubscriptions(api: Connection, prefix: string, url: string): AsyncGenerator<IDataObject, void> {
	const list = (await api.describe('/webhooks'))?.list;
	if (!list) throw new Error('The API description does not include /webhooks.');
	const query = list.filters.some(({ name }) => name === 'url') ? { url } : {};
	for await (const { records } of readPages(api.send, { path: collection, list, query })) {
		for (const record of records) if (String(record.description).startsWith(prefix)) yield record;
	}
}

/** A new key that makes a write safe to retry. Under an earlier key, the service would repeat its earlier response. */
export function newKeyFor(write: WriteDescription | undefined) {
	const header = write?.idempotencyHeader;
	return header === undefined ? {} : { idempotency: { header, key: randomUUID() } };
}
