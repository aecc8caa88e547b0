import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { CrmEvent } from '../api/crmEvent';
import type { EventType } from '../api/openapi/eventTypes';
import { findRecord } from '../api/find';
import type { KeyOrigin } from '../api/http/idempotency';
import { path } from '../api/http/path';
import { madeBy } from './origin';

/** What the user chose to get of an event. */
export interface EventOutput {
	/** The event as it came, only its record, or the event with the record as it is now. */
	shape: 'event' | 'record' | 'current';
	/** Of the workflow that gets it. */
	origin: KeyOrigin;
}

/**
 * What an event becomes in the workflow. Its id is always in it: as `id`, or `event.id` beside a
 * record; and so is `made_by`, unless the service does not report who caused an event.
 *
 * @param api opened only if something has to be read
 * @throws NodeApiError if the record cannot be read
 */
export async function eventOutput(
	event: CrmEvent,
	{ shape, origin }: EventOutput,
	api: () => Promise<Connection>,
): Promise<IDataObject> {
	const by = madeBy(event, origin);
	const made = by === undefined ? {} : { made_by: by };
	if (shape === 'current') return { ...(await withCurrentRecord(event, await api())), ...made };
	if (shape === 'event') return { ...event, ...made };
	const { id, type, timestamp, sequence, data } = event;
	return { ...data.object, event: { id, type, timestamp, sequence, ...made } };
}

/** `data.fetched_at` is the time of the read; null if the record no longer exists. */
async function withCurrentRecord(event: CrmEvent, api: Connection): Promise<IDataObject> {
	const { types } = await api.describeEvents();
	const place = recordPath(event, types);
	const record = place === undefined ? undefined : await findRecord(api, place);
	const fetched_at = record ? new Date().toISOString() : null;
	return { ...event, data: { ...event.data, object: record ?? event.data.object, fetched_at } };
}

/** Where the record of an event is; undefined where the service does not say. */
export function recordPath({ type, data }: CrmEvent, types: EventType[]): string | undefined {
	const known = types.find((one) => matches(one.type, type));
	if (known?.collection === undefined || typeof data.object.id !== 'string') return undefined;
	// `custom.machines.created` is about a record of `/custom-objects/{key}/records`.
	const [, key = ''] = type.split('.');
	const collection = known.collection.replace(/\{\w+\}/, () => path`${key}`);
	return `/v1${collection}${path`/${data.object.id}`}`;
}

/** @param template may have a parameter in braces for one part: `custom.{key}.created` */
function matches(template: string, type: string): boolean {
	const [expected, given] = [template.split('.'), type.split('.')];
	return (
		expected.length === given.length &&
		expected.every((part, i) => part.startsWith('{') || part === given[i])
	);
}
