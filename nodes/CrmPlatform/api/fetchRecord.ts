import { NodeApiError, type IDataObject } from 'n8n-workflow';

import type { Connection } from './connection';
import { isObject } from '../base/json';
import { isUnreadable, saysNotFound } from './http/problem';

/**
 * Reads the record at a path.
 *
 * @throws NodeApiError if the request fails, Error in the user's words if the response is not a record
 */
export async function readRecord(api: Connection, path: string): Promise<IDataObject> {
	const { body } = await api.send({ method: 'GET', path });
	if (isObject(body)) return body;
	throw new Error(
		`The response from ${path} is not a record. Check that the base URL in the credential is the URL of the API, then try again.`,
	);
}

/**
 * Reads the record at a path; undefined if it does not exist (404, 410).
 *
 * @throws as readRecord does
 */
export async function findRecord(api: Connection, path: string): Promise<IDataObject | undefined> {
	return await undefinedIfGone(readRecord(api, path));
}

/** The result of a request; undefined if the record does not exist (404, 410). */
export async function undefinedIfGone<T>(request: Promise<T>): Promise<T | undefined> {
	return await request.catch((error: unknown) => {
		if (isNotFound(error)) return undefined;
		throw error;
	});
}

/** Whether the service says that the requested record does not exist. */
export const isNotFound = (error: unknown): error is NodeApiError =>
	error instanceof NodeApiError && saysNotFound(Number(error.httpCode), error.context.data as IDataObject | undefined);

/** Whether a web server answered instead of the API: its page says nothing about a record. */
export const isWebPage = (error: NodeApiError): boolean => isUnreadable(error.context.data as IDataObject | undefined);

/** Whether the service answered a request with one of the statuses. */
export const isAnsweredWith = (error: unknown, ...statuses: number[]): error is NodeApiError =>
	error instanceof NodeApiError && statuses.includes(Number(error.httpCode));
