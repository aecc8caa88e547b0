import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { customFieldsIfAny } from '../api/customFields';
import { collectionName } from '../api/http/path';
import type { ResourceDescription } from '../api/openapi/description';
import { isObject, possibleIdsIn } from '../base/json';
import { setAtPath } from '../base/ownMembers';
import { comparison } from '../changes/merge';
import { valueProblem } from '../fields/checks';
import { allCustomFields, fieldNamed, type Field } from '../fields/field';
import { valueIn } from '../fields/keys';
import type { Identifiers } from './identifiers';
import type { PersonData, PersonRecord } from './personData';

/** What happens to each record that concerns a person. */
export interface Erasure {
	/** The contact last: until then, an interrupted erasure can be run again. */
	erased: PersonRecord[];
	anonymized: AnonymizedRecord[];
	kept: KeptRecord[];
}

export type AnonymizedRecord = PersonRecord & { patch: IDataObject };
export type KeptRecord = PersonRecord & { reason: string };

/** What happens to one record: one of these, or nothing. */
type Fate = Partial<{ erased: PersonRecord; anonymized: AnonymizedRecord; kept: KeptRecord }>;

export async function decideErasure(api: Connection, data: PersonData): Promise<Erasure> {
	const fates: Fate[] = [];
	for (const found of data.records) fates.push(await fateOf(api, data, found));
	const isContact = ({ record }: PersonRecord) => record.id === data.contact.id;
	return {
		erased: fates.flatMap(({ erased }) => erased ?? []).sort((a, b) => Number(isContact(a)) - Number(isContact(b))),
		anonymized: fates.flatMap(({ anonymized }) => anonymized ?? []),
		kept: fates.flatMap((fate) => fate.kept ?? []),
	};
}

async function fateOf(api: Connection, { ids, identifiers }: PersonData, found: PersonRecord): Promise<Fate> {
	const { resource, record, isDeleted, linksToPerson, places } = found;
	const keep = (reason: string): Fate => ({ kept: { ...found, reason } });
	const described = await api.describe(resource.path);
	const isOwn = ids.has(record.id) || (linksToPerson && isOnlyOfPerson(found, ids));
	// What is deleted already cannot be changed any more.
	if (isOwn || (isDeleted && places.length > 0)) {
		return described?.delete?.takesPermanent ? { erased: found } : keep('The CRM cannot delete it permanently.');
	}
	if (places.length === 0) {
		return linksToPerson && !isDeleted ? keep('It links to the person by an ID, which says nothing any more.') : {};
	}
	const patch = await anonymousPatch(api, described, found, identifiers);
	if (resource.value === 'contact') return keep('It is another contact. If it is the same person, merge or erase it.');
	if (resource.value === 'message') return keep('Messages cannot be changed once they were sent, and this one belongs to others.');
	if (Object.keys(patch).length === 0) return keep('The CRM does not let these fields be changed.');
	return { anonymized: { ...found, patch } };
}

/** Whether a record has no other subject than the person: messages of the contact, and notes, activities and tasks about nobody else. */
function isOnlyOfPerson({ resource, record }: PersonRecord, ids: ReadonlySet<string>): boolean {
	if (resource.value === 'message') return ids.has(String(record.contact_id));
	const { links } = record;
	return Array.isArray(links) && links.length > 0 && links.every((link) => possibleIdsIn(link).some((id) => ids.has(id)));
}

/** The values that take the person out of a record, as far as they can be written. */
async function anonymousPatch(
	api: Connection,
	described: ResourceDescription | undefined,
	{ path, record }: PersonRecord,
	identifiers: Identifiers,
): Promise<IDataObject> {
	const written = described?.update?.fields ?? [];
	const custom = await customFieldsIfAny(api, path, written);
	const standard = written.filter(({ name }) => name !== allCustomFields);
	// Without their definitions, custom fields are one value.
	const fields = custom ? [...standard, ...custom.fields] : written;
	return comparison(standard, true).difference(record, withoutPerson(fields, record, identifiers)).patch;
}

/** The values of a record that name the person, without that. */
function withoutPerson(fields: Field[], record: IDataObject, identifiers: Identifiers): IDataObject {
	const values: IDataObject = {};
	for (const field of fields) {
		const value = valueIn(record, field);
		if (identifiers.placesIn(value).length > 0) setAtPath(values, field.path, valueWithout(field, value, identifiers));
	}
	return values;
}

/** A value in which no text names the person. Where “[erased]” does not fit, as in an email address, it becomes null. */
function valueWithout(field: Field, value: unknown, identifiers: Identifiers): unknown {
	if (Array.isArray(value)) return value.map((entry) => valueWithout(field, entry, identifiers)).filter((entry) => entry !== null);
	if (isObject(value) && field.members) {
		const memberOf = (name: string) => field.members!.find((member) => member.name === name) ?? fieldNamed(name);
		return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, valueWithout(memberOf(name), member, identifiers)]));
	}
	if (identifiers.placesIn(value).length === 0) return value;
	const erased = identifiers.without(value);
	const text = typeof erased === 'string' ? [...erased].slice(0, field.maxLength).join('') : erased;
	return valueProblem(field, text) === undefined ? text : null;
}

/** A record as outputs have it. */
export const reportedTrace = ({ path, record, places }: PersonRecord) =>
	({ collection: collectionName(path), id: record.id, fields: places.map(({ field }) => field) });

export const reportedErasure = ({ erased, anonymized, kept: remaining }: Erasure) => ({
	erase: erased.map(reportedTrace),
	make_anonymous: anonymized.map(reportedTrace),
	keep: remaining.map((found) => ({ ...reportedTrace(found), reason: found.reason })),
});
