import type { IDataObject } from 'n8n-workflow';

import { originOfKey } from './http/idempotency';
import { isObject } from '../base/json';

/** Something that happened to a record, as the service delivers it and as its log keeps it. */
export interface CrmEvent extends IDataObject {
	/** The ID of the event, the same for every attempt to deliver it. */
	id: string;
	/** For example `deal.won`. */
	type: string;
	/** When it happened (RFC 3339). */
	timestamp: string;
	/** Counts the events of the account; a higher one happened later. */
	sequence: number;
	data: IDataObject & {
		/** The record as it was then. */
		object: IDataObject;
		/** Former values of the changed fields; null for events other than changes. */
		previous: IDataObject | null;
		/** Names of the fields that changed; `custom_fields.<key>` for custom fields. */
		changed: string[];
	};
}

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Parses an event; undefined if the JSON is not one. Unknown members are kept. A log has hundreds of thousands
 * of them, so none is copied.
 */
export function parseEvent(json: unknown): CrmEvent | undefined {
	if (!isObject(json) || !isObject(json.data)) return undefined;
	const { id, type, timestamp, sequence, data } = json;
	const { object, previous, changed } = data;
	if (![id, type, timestamp].every(isText) || id === '' || type === '') return undefined;
	if (!Number.isInteger(sequence) || !isObject(object)) return undefined;
	if (!isObject(previous ?? {}) || !Array.isArray(changed ?? []) || !((changed ?? []) as unknown[]).every(isText)) return undefined;
	return { ...json, data: { ...(data), previous: previous ?? null, changed: changed ?? [] } } as CrmEvent;
}

/** Whether a type of event is the chosen one, or one of those a pattern such as `deal.*` or `*` stands for. */
export function matchesEventPattern(pattern: string, type: string): boolean {
	return pattern === type || (pattern.endsWith('*') && type.startsWith(pattern.slice(0, -1)));
}

/** The workflow and the execution that caused an event; undefined for another originator, or where the service does not tell. */
export function originOfEvent({ request }: IDataObject): ReturnType<typeof originOfKey> {
	const key = (request as { idempotency_key?: unknown } | null | undefined)?.idempotency_key;
	return typeof key === 'string' ? originOfKey(key) : undefined;
}

/** Whether the service reports the request that caused an event; null means no request did. */
export const tellsOrigin = ({ request }: CrmEvent): boolean =>
	request === null || (request as { idempotency_key?: unknown } | undefined)?.idempotency_key !== undefined;

/** The id of the user or key that caused an event; undefined where the service does not tell. */
export function actorOf({ actor }: IDataObject): string | undefined {
	const id = (actor as { id?: unknown } | null | undefined)?.id;
	return typeof id === 'string' ? id : undefined;
}
