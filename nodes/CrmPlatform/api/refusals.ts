import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { isUnreadable, saysNotFound } from './http/problem';
import { isInProgress } from './http/retry';
import { refusedRecord } from './http/statuses';

// What the error of a request says about its record.

/** The result of a request; undefined if the record does not exist (404, 410). */
export async function undefinedIfGone<T>(request: Promise<T>): Promise<T | undefined> {
	return await request.catch((error: unknown) => {
		if (isNotFound(error)) return undefined;
		throw error;
	});
}

export const isNotFound = (error: unknown): error is NodeApiError =>
	error instanceof NodeApiError && saysNotFound(Number(error.httpCode), error.context.data as IDataObject | undefined);

/** Whether a web server answered instead of the API: its page says nothing about a record. */
export const isWebPage = (error: NodeApiError): boolean => isUnreadable(error.context.data as IDataObject | undefined);

export const isAnsweredWith = (error: unknown, ...statuses: number[]): error is NodeApiError =>
	error instanceof NodeApiError && statuses.includes(Number(error.httpCode));

/** Whether another request was sent under the key. */
export const isReusedKey = (error: unknown): boolean =>
	error instanceof NodeApiError && (error.context.data as { code?: string } | undefined)?.code === 'idempotency_key_reused';

/** Catches the error of an answer with one of these statuses: there is no value then. */
export const undefinedIfAnsweredWith = (...statuses: number[]) => (error: unknown): undefined => {
	if (!isAnsweredWith(error, ...statuses)) throw error;
};

/** Why the node does not send a write: a matter of its record. */
export class NotSent extends Error {}

/** Whether a write was refused for itself or its record type, so that others may go on; not while an attempt with its key is running. */
export const isRefused = (error: unknown): error is Error =>
	error instanceof NotSent || (isAnsweredWith(error, ...refusedRecord) && !isWebPage(error)
	&& !isInProgress({ ...(error.context.data as { code?: string }), status: Number(error.httpCode) }));

export const isCertainlyUnwritten = (error: unknown): boolean =>
	error instanceof NotSent || (error instanceof NodeApiError && error.context.mayBeDone !== true);

/** What is said of a refusal: the CRM has not refused what the node did not send. @param text says more than the error's message */
export const refusalText = (refusal: Error, text = refusal.message): string =>
	(refusal instanceof NotSent ? text : `The CRM refused it: ${text}`);
