import { NodeApiError, type IDataObject } from 'n8n-workflow';

import type { Connection } from './connection';

/**
 * The record at a path; undefined where there is none.
 *
 * @throws NodeApiError for whatever else goes wrong
 */
export async function findRecord(api: Connection, path: string): Promise<IDataObject | undefined> {
	return await undefinedIfGone(
		api.send({ method: 'GET', path }).then(({ body }) => body as IDataObject),
	);
}

/** What a request gives; undefined where what it is about does not exist (404, 410). */
export async function undefinedIfGone<T>(request: Promise<T>): Promise<T | undefined> {
	return await request.catch((error: unknown) => {
		if (error instanceof NodeApiError && ['404', '410'].includes(error.httpCode ?? '')) return undefined;
		throw error;
	});
}
