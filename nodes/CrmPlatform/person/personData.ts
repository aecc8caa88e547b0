import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { readRecordFields } from '../api/customFields';
import { subjectHash, mergeSubject } from '../api/http/idempotency';
import { encodedPath, type Collection } from '../api/http/path';
import { ruleNumber } from '../api/http/rules';
import { readPages } from '../api/lists/pages';
import { isLink, isLinkMoved, linkedIdsIn } from '../api/openapi/linkFields';
import { findRecord } from '../api/record';
import { isObject, possibleIdsIn } from '../base/json';
import { withMemberAtPath } from '../base/ownMembers';
import { fieldNamed, type Field } from '../fields/field';
import { valueIn } from '../fields/keys';
import { causeOf, undoneDeletions } from '../log/cause';
import { meaningOfType } from '../log/crmEvent';
import { fieldEntries, fieldValue } from '../log/eventFields';
import { openEventLog } from '../log/eventLog';
import {
	recordsById, collectionPathsOf, identified, includingDeleted, isDeletedIn, withFields, type IdentifiedRecord,
} from '../lookUp/lookUp';
import type { Resource } from '../model';
import { Identifiers, type Place } from './identifiers';

/** A record that concerns a person. */
export interface PersonRecord {
	resource: Resource;
	path: Collection;
	record: IdentifiedRecord;
	isDeleted: boolean;
	/** Whether it links to the person, or the person to it. */
	linksToPerson: boolean;
	/** Whether it links to somebody or something else, of the types that are read. */
	linksToOthers: boolean;
	isLinked: boolean;
	places: Place[];
}

interface PersonEvent extends IDataObject {
	at: string;
	type: string;
	by: IDataObject;
	id: string;
	changes: IDataObject;
	places: IDataObject[];
}

interface Person {
	contact: IdentifiedRecord;
	/** The ids of the contact, and of the deleted ones that were merged into it. */
	ids: ReadonlySet<string>;
	identifiers: Identifiers;
}

/** Whether a record is the person: records of two types may have the same ID. @param ids of the person */
export const isPerson = (ids: ReadonlySet<string>, path: Collection, id: unknown): boolean =>
	path === '/contacts' && ids.has(String(id));

export interface PersonData extends Person {
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
	const found = await findRecord(api, encodedPath`/contacts/${id}`);
	if (!found) return undefined;
	const contact = identified([found])[0]!;
	const ids = await idsOfPerson(api, contact.id);
	const { list, fields = [] } = (await api.describe('/contacts'))!;
	const contacts = { path: '/contacts', list, fields: fields.map(({ name }) => name) } as const;
	const merged = await recordsById(api, contacts, [...ids].filter((each) => each !== contact.id), includingDeleted(list));
	const identifiers = new Identifiers([contact, ...merged.values()]);
	const person = { contact, ids, identifiers };
	return { ...person, ...(await readTraces(api, types, person)) };
}

/** The ids of a contact, and of those that merges have deleted in its favor, as far as the log reaches back. */
async function idsOfPerson(api: Connection, id: string): Promise<Set<string>> {
	const ids = new Set([id]);
	/** The deleted contacts, and the copy of each that an undo created by mistake: another undo has deleted it. */
	const mergedAway = new Map<string, string | undefined>();
	const copies = new Map<string, string>();
	const newIdAfter = undoneDeletions(['contact.created'], ['contact.deleted']);
	const catalog = await api.describeEvents();
	// The newest first: a contact that was merged into another one was so after others were merged into it.
	for await (const event of (await openEventLog(api)).newestFirst([])) {
		const { type, data: { object, previous } } = event;
		const { origin } = causeOf(event);
		const isUndone = newIdAfter(event) !== undefined;
		if (type === 'contact.created' && origin?.purpose === 'undo') copies.set(origin.hash, String(object.id));
		if (origin?.purpose !== 'merge') continue;
		const deleted = String(object.id);
		if (type === 'contact.deleted' && !isUndone) {
			mergedAway.set(deleted, copies.get(subjectHash(event.id)));
			if ([...ids].some((survivor) => origin.hash === subjectHash(mergeSubject(survivor, deleted, origin.execution ?? '')))) ids.add(deleted);
		}
		const meaning = meaningOfType(catalog, type);
		const linkFields = meaning ? await linkFieldsOf(api, meaning.template, meaning.collection) : contactLinks;
		for (const [name, from] of fieldEntries(previous ?? {})) {
			const to = fieldValue(object, name);
			const linkedBy = (value: unknown) => linkedIds(withMemberAtPath({}, name.split('.'), value), linkFields, '/contacts');
			const survivors = linkedBy(to).filter((each) => ids.has(each));
			const losers = linkedBy(from).filter((each) => mergedAway.has(each));
			for (const loser of losers) if (survivors.some((survivor) => isLinkMoved(from, to, loser, survivor))) ids.add(loser);
		}
	}
	return new Set([...ids].flatMap((each) => [each, mergedAway.get(each) ?? []].flat()));
}

export const noContact = (id: string): string => `There is no contact ${id}, or the credential cannot see it. If it was erased, nothing of it is left.`;

/** The fields of a record type with links or with lists of objects, custom and archived ones included: records still have their values. */
async function linkFieldsOf(api: Connection, template: Collection, path: Collection): Promise<Field[]> {
	const { fields, isComplete } = await readRecordFields(api, template, path);
	if (!isComplete) api.notices.add(missingLinks);
	return [...contactLinks, ...fields.filter((field) => isLink(field) || field.members)];
}

const missingLinks = `Not all definitions of custom fields could be read: the credential is not allowed to, or they are not understood (${ruleNumber(17)}). `
	+ 'So links in custom fields may be missing.';

/** Links to contacts, also if the description does not say so. */
const contactLinks = [fieldNamed('contact_id', { target: '/contacts' }), fieldNamed('links', { linksTo: ['/contacts'] })];

/** The IDs of a collection that a record links to. An undescribed text may be one, but no whole number: it may be an amount, or of another type. */
function linkedIds(record: IDataObject, linkFields: Field[], collection: Collection): string[] {
	const links = linksIn(record, linkFields);
	const described = new Set(links.map(([, id]) => String(id)));
	const others = possibleIdsIn({ ...record, id: null }).filter((id) => !described.has(id) && !/^\d+$/.test(id));
	return [...links.flatMap(([target, id]) => (target === collection ? [String(id)] : [])), ...others];
}

/** The IDs in links of a record and of the objects in its lists, and what each is of. */
const linksIn = (record: IDataObject, fields: Field[]): ReturnType<typeof linkedIdsIn> => fields.flatMap((field) => {
	const value = valueIn(record, field);
	if (isLink(field)) return linkedIdsIn(field, value);
	return [value].flat().filter(isObject).flatMap((entry) => linksIn(entry, [...contactLinks, ...(field.members ?? [])]));
});

/** Reads what links to a person or names it. @param person as it is, or as it was before it was erased */
export async function readTraces(api: Connection, types: Resource[], person: Person): Promise<Omit<PersonData, keyof Person>> {
	const { contact, ids, identifiers } = person;
	const linkFieldsOfContacts = await linkFieldsOf(api, '/contacts', '/contacts');
	const records: PersonRecord[] = [];
	const lists = (await Promise.all(types.map(async (resource) => {
		const { list, fields = [] } = (await api.describe(resource.path)) ?? {};
		const paths = list ? await collectionPathsOf(api, resource) : [];
		if (!paths) api.notices.add(`Records of custom objects were not searched: the CRM does not list its custom objects (${ruleNumber(17)}).`);
		return (paths ?? []).map((path) => ({ resource, path, list: list!, fields }));
	}))).flat();
	const allPaths = new Set(lists.map(({ path }) => path));
	for (const { resource, path, list, fields } of lists) {
		const linkFields = await linkFieldsOf(api, resource.path, path);
		const linkedByPerson = new Set(linkedIds(contact, linkFieldsOfContacts, path));
		const query = withFields(list, includingDeleted(list), fields.map(({ name }) => name));
		for await (const page of readPages(api.send, { path, list, query })) {
			for (const record of identified(page.records)) {
				const places = identifiers.placesIn(record);
				const isContact = isPerson(ids, path, record.id);
				const linksToPerson = !isContact && linkedIds(record, linkFields, '/contacts').some((id) => ids.has(id));
				const isLinked = isContact || linkedByPerson.has(record.id);
				if (places.length === 0 && !linksToPerson && !isLinked) continue;
				const linksToOthers = linksIn(record, linkFields).some(([target, id]) => allPaths.has(target) && !isPerson(ids, target, id));
				records.push({ resource, path, record, isDeleted: isDeletedIn(list, record), linksToPerson, linksToOthers, isLinked, places });
			}
		}
	}
	return { records, events: await readEvents(api, person) };
}

async function readEvents(api: Connection, { ids, identifiers }: Person): Promise<PersonEvent[]> {
	const log = await openEventLog(api);
	const events: PersonEvent[] = [];
	for await (const event of log.allAfter(0)) {
		const { type, timestamp, data: { object, previous, changed } } = event;
		const places = identifiers.placesIn(event.data);
		const isOfContact = type.startsWith('contact.') && ids.has(String(object.id));
		if (!isOfContact && places.length === 0) continue;
		const { actor } = causeOf(event);
		const before = previous ?? {};
		const changes = Object.fromEntries(changed.map((name) => [name, { from: fieldValue(before, name) ?? null, to: fieldValue(object, name) ?? null }]));
		events.push({
			at: timestamp, type, by: { ...(event.actor as IDataObject | undefined), ...(actor !== undefined && { id: actor }) },
			id: String(object.id), changes, places: places as unknown as IDataObject[],
		});
	}
	return events;
}
