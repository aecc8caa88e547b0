import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { type CrmEvent, meaningOfType } from '../log/crmEvent';
import { findRecord } from '../api/record';
import type { KeyOrigin } from '../api/http/idempotency';
import { encodedPath, type Collection } from '../api/http/path';
import { idText } from '../base/json';
import { madeBy } from '../log/cause';
import { withLinkedNames } from '../lookUp/linkedNames';
import type { NamesToAdd } from '../model';
import { resourceAt } from '../resources';
import { type OnlyIf, verdictOfEvent } from './eventFilter';

export const returnedContents = ['record', 'current', 'event'] as const;

export interface EventOutput {
	/** The record as it was at the time, the record as it is now, or the event itself. */
	content: (typeof returnedContents)[number];
	/** The origin of the workflow that receives the event. */
	receiver: KeyOrigin;
	/** The names of linked records in records; none in events. */
	names: NamesToAdd;
	/** The conditions of the trigger: the item says if they could not be decided. */
	onlyIf?: OnlyIf | undefined;
}

export const needsConnection = ({ content, names }: EventOutput): boolean => content === 'current' || names !== 'none';

/**
 * The item that starts the workflow. It has the event's id (`id`, or `event.id` beside a record) and, if the service reports it, `made_by`.
 *
 * @param api for the record as it is now
 * @throws NodeApiError if the record cannot be read
 */
export async function eventOutput(event: CrmEvent, { content, receiver, onlyIf }: EventOutput, api: Connection | undefined): Promise<IDataObject> {
	const by = madeBy(event, receiver);
	const isUndecided = onlyIf !== undefined && verdictOfEvent(event, onlyIf) === 'maybe';
	const attribution = { ...(by !== undefined && { made_by: by }), ...(isUndecided && { only_if: 'undecided' }) };
	if (content === 'event') return { ...event, ...attribution };
	const { id, type, timestamp, sequence, data } = event;
	const { object, previous, changed } = data;
	const eventSummary = { id, type, timestamp, sequence, changed, previous, ...attribution };
	if (content === 'record') return { ...object, event: eventSummary };
	const now = await currentRecord(event, api!);
	return { ...(now ?? object), event: { ...eventSummary, fetched_at: now ? new Date().toISOString() : null } };
}

/**
 * Adds the names of linked records to the records that start an execution, which are looked up together.
 *
 * @param path of the record type; absent for records with their events
 */
export async function withNamesOfLinks(api: Connection, records: IDataObject[], names: NamesToAdd, path?: Collection): Promise<IDataObject[]> {
	if (names === 'none' || records.length === 0) return records;
	const catalog = path === undefined ? await api.describeEvents() : undefined;
	const paths = records.map(({ event }) =>
		catalog ? resourceAt(meaningOfType(catalog, String((event as IDataObject | undefined)?.type))?.template ?? '')?.path : path);
	const named = [...records];
	for (const recordPath of new Set(paths)) {
		if (recordPath === undefined) continue;
		const indexes = [...records.keys()].filter((i) => paths[i] === recordPath);
		const { fields = [] } = (await api.describe(recordPath)) ?? {};
		const found = await withLinkedNames(api, fields, indexes.map((i) => records[i]!), names === 'all');
		for (const [k, i] of indexes.entries()) named[i] = found[k]!;
	}
	return named;
}

/** Reads the record; undefined if it no longer exists, or if the service does not describe where it is. */
async function currentRecord({ type, data }: CrmEvent, api: Connection): Promise<IDataObject | undefined> {
	const { collection } = meaningOfType(await api.describeEvents(), type) ?? {};
	const id = idText(data.object.id);
	return collection === undefined || id === undefined ? undefined : await findRecord(api, collection + encodedPath`/${id}`);
}
