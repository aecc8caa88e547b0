import type { IDataObject } from 'n8n-workflow';

import { originOfKey } from './http/idempotency';
import { idText, isObject, parseJson } from '../base/json';

/** Something that happened to a record, as the service delivers and logs it. */
export interface CrmEvent extends IDataObject {
	/** The ID of the event, the same for every attempt to deliver it. */
	id: string;
	/** For example `deal.won`. */
	type: string;
	/** When it happened (RFC 3339). */
	timestamp: string;
	/** Number of the event in the account; a higher number happened later. */
	sequence: number;
	data: IDataObject & {
		/** The record at that time. */
		object: IDataObject;
		/** Former values of the changed fields; null for events other than changes. */
		previous: IDataObject | null;
		/** Names of the fields that changed; `custom_fields.<key>` for custom fields. */
		changed: string[];
	};
}

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Parses an event; undefined if the JSON is not one. Unknown members are kept. Without deep copies, since a log has
 * hundreds of thousands of events.
 */
export function parseEvent(json: unknown): CrmEvent | undefined {
	if (!isObject(json) || !isObject(json.data)) return undefined;
	const { id, type, timestamp, sequence, data } = json;
	const { object, previous, changed } = data;
	if (![id, type, timestamp].every(isText) || id === '' || type === '') return undefined;
	if (!Number.isInteger(sequence) || !isObject(object)) return undefined;
	if (!isObject(previous ?? {}) || !Array.isArray(changed ?? []) || !((changed ?? []) as unknown[]).every(isText)) return undefined;
	return { ...json, data: { ...data, previous: previous ?? null, changed: changed ?? [] } } as CrmEvent;
}

/** The event that the body of a delivery contains, if any. */
export const deliveredEvent = (body: Buffer): CrmEvent | undefined => parseEvent(parseJson(body.toString('utf8')));

/** Whether an event type matches a pattern: the type itself, or with a wildcard, `deal.*` or `*`. */
export function matchesEventPattern(pattern: string, type: string): boolean {
	return pattern === type || (pattern.endsWith('*') && type.startsWith(pattern.slice(0, -1)));
}

/** The workflow and the execution that caused an event; undefined if something else caused it, or if that is unknown. */
export function originOfEvent({ request }: IDataObject): ReturnType<typeof originOfKey> {
	const key = (request as { idempotency_key?: unknown } | null | undefined)?.idempotency_key;
	return typeof key === 'string' ? originOfKey(key) : undefined;
}

/** Whether the service reports the request that caused an event; null means no request did. */
export const tellsOrigin = ({ request }: CrmEvent): boolean =>
	request === null || (request as { idempotency_key?: unknown } | undefined)?.idempotency_key !== undefined;

/** The id of the user or key that caused an event; undefined if the service does not report it. */
export function actorOf({ actor }: IDataObject): string | undefined {
	return idText((actor as { id?: unknown } | null | undefined)?.id);
}
