import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { path as pathOf } from '../api/http/path';
import { readPages } from '../api/lists/pages';
import { findRecord } from '../api/record';
import { collectionPathsOf } from '../duplicates/linkingRecords';
import { causeOf } from '../log/cause';
import { openEventLog } from '../log/eventLog';
import { identified, withFields, type IdentifiedRecord } from '../lookUp/lookUp';
import type { Resource } from '../model';
import { possibleIdsIn } from '../undo/links';
import { Identifiers, type Place } from './identifiers';

/** A record that concerns a person. */
export interface PersonRecord {
	resource: Resource;
	/** Path of the collection, with version prefix. */
	path: string;
	record: IdentifiedRecord;
	isDeleted: boolean;
	/** Whether it links to the person, or the person to it. */
	linksToPerson: boolean;
	isLinked: boolean;
	/** The texts that name the person. */
	places: Place[];
}

/** An event of the log that concerns a person. */
interface PersonEvent extends IDataObject {
	at: string;
	type: string;
	by: IDataObject;
	id: string;
	changes: IDataObject;
	places: IDataObject[];
}

/** All that an account has about a person. */
export interface PersonData {
	contact: IdentifiedRecord;
	identifiers: Identifiers;
	records: PersonRecord[];
	events: PersonEvent[];
}

/**
 * Reads all records and the log, and keeps what concerns a person. Nothing less finds every text.
 *
 * @param types the record types to read
 * @returns undefined if there is no such contact
 */
export async function readPersonData(api: Connection, types: Resource[], id: string): Promise<PersonData | undefined> {
	api.requireDescription('Person');
	const found = await findRecord(api, pathOf`/v1/contacts/${id}`);
	if (!found) return undefined;
	const contact = identified([found])[0]!;
	const identifiers = new Identifiers(contact);
	return { contact, identifiers, ...(await readTraces(api, types, contact, identifiers)) };
}

/** The error of a contact that does not exist. */
export const noContact = (id: string): string => `There is no contact ${id}, or the credential cannot see it. If it was erased, nothing of it is left.`;

/** Reads what links to a contact or names it. @param contact the contact as it is, or as it was before it was erased */
export async function readTraces(api: Connection, types: Resource[], contact: IdentifiedRecord, identifiers: Identifiers): Promise<Pick<PersonData, 'records' | 'events'>> {
	const linkedIds = new Set(possibleIdsIn(contact));
	const records: PersonRecord[] = [];
	for (const resource of types) {
		const { list, fields = [] } = (await api.describe(resource.path)) ?? {};
		for (const path of list ? await collectionPathsOf(api, resource) : []) {
			const scope = list!.deleted ? { [list!.deleted.parameter]: true } : {};
			const query = withFields(list!, scope, fields.map(({ name }) => name));
			for await (const page of readPages(api.send, { path, list: list!, query })) {
				for (const record of identified(page.records)) {
					const places = identifiers.placesIn(record);
					const linksToPerson = record.id !== contact.id && possibleIdsIn(record).includes(contact.id);
					const isLinked = record.id === contact.id || linkedIds.has(record.id);
					const isDeleted = (record[list!.deleted?.field ?? ''] ?? null) !== null;
					if (places.length > 0 || linksToPerson || isLinked) records.push({ resource, path, record, isDeleted, linksToPerson, isLinked, places });
				}
			}
		}
	}
	return { records, events: await readEvents(api, contact.id, identifiers) };
}

async function readEvents(api: Connection, id: string, identifiers: Identifiers): Promise<PersonEvent[]> {
	const log = await openEventLog(api);
	const events: PersonEvent[] = [];
	for await (const event of log.allAfter(0)) {
		const { type, timestamp, data: { object, previous, changed } } = event;
		const places = identifiers.placesIn(event.data);
		if (object.id !== id && places.length === 0) continue;
		const { actor } = causeOf(event);
		const changes = Object.fromEntries(changed.map((name) => [name, { from: previous?.[name] ?? null, to: object[name] ?? null }]));
		events.push({
			at: timestamp, type, by: { ...(event.actor as IDataObject | undefined), ...(actor !== undefined && { id: actor }) },
			id: String(object.id), changes, places: places as unknown as IDataObject[],
		});
	}
	return events;
}
