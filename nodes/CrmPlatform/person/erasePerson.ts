import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { customFieldsIfAny } from '../api/customFields';
import { isObject } from '../base/json';
import { setAtPath } from '../base/ownMembers';
import { systemClock } from '../base/clock';
import { sha256 } from '../base/digest';
import { collectionName, encodedPath } from '../api/http/path';
import { isRefused, refusalText } from '../api/refusals';
import { findRecord } from '../api/record';
import { requireDescribed } from '../api/requireDescribed';
import { applyPlan, type RecordChange, checkMaximum } from '../changes/apply';
import { RecordComparison } from '../fields/recordComparison';
import { valueProblem } from '../fields/checks';
import { allCustomFields, fieldNamed, type Field } from '../fields/field';
import { allValuesIn, valueIn } from '../fields/keys';
import { causeOf } from '../log/cause';
import type { CrmEvent } from '../log/crmEvent';
import { openEventLog } from '../log/eventLog';
import type { IdentifiedRecord } from '../lookUp/lookUp';
import type { NodeRun, Operation, Resource } from '../model';
import { ifEmptyOption, recordAt, recordProperty } from '../parameters/recordParameters';
import { eachItem } from '../schedule';
import { parsePreview, parseText, parseWholeNumber } from '../values/parsers';
import type { Identifiers } from './identifiers';
import { isPerson, noContact, readPersonData, readTraces, type PersonData, type PersonRecord } from './personData';
import { booleanProperty, numberProperty, textProperty } from '../parameters/properties';

const erasurePreview = booleanProperty('Preview', 'preview', true, 'Whether to only return what would change');

const confirmation = textProperty('Confirm with Email or ID', 'confirmation', {
	description: 'The person’s email or ID',
});

const maximumRecords = numberProperty('Maximum Records', 'maxErased', 1000, {
	typeOptions: { minValue: 0 },
	description: 'If there are more, nothing is written',
});

/** @param types the record types that may concern a person */
export function erasePerson(types: Resource[]): Operation {
	return {
		option: { name: 'Erase', value: 'erase', action: 'Erase a person', description: 'Delete permanently' },
		properties: (resource) => [erasurePreview, recordProperty(resource), confirmation, maximumRecords],
		options: [ifEmptyOption],
		output: {
			type: 'object',
			properties: {
				result: { type: 'string' }, contact: { type: 'string' },
				erase: { type: 'array' }, make_anonymous: { type: 'array' }, keep: { type: 'array' },
			},
		},
		prepare: async (run) => {
			const { delete: deletion } = await requireDescribed(run, 'delete');
			if (!deletion.takesPermanent) throw new Error(noErasure);
			return eachItem(async (item) => await erase(run, item, types));
		},
	};
}

const noErasure = 'This CRM has no permanent deletion: its API description does not offer DELETE with permanent. '
	+ 'Nothing was written. Ask its provider to erase the person.';

/** What an erasure does to a record that concerns the person: with `patch`, it becomes anonymous; `reason` says why it is kept. */
type ErasureAction = { action: 'erase' } | { action: 'make_anonymous'; patch: IDataObject } | { action: 'keep'; reason: string };
type DecidedRecord = PersonRecord & ErasureAction;

async function erase(run: NodeRun, item: number, types: Resource[]): Promise<IDataObject> {
	const { n8n, api } = run;
	const isPreview = parsePreview(n8n.getNodeParameter(erasurePreview.name, item, ''));
	const { id } = recordAt(run, item);
	const data = await readPersonData(api, types, id);
	if (!data) return await reportEarlierErasure(run, id);
	const decided = await decideErasure(api, data);
	const { displayName: label, name, default: allowed } = maximumRecords;
	const maximum = parseWholeNumber(label, n8n.getNodeParameter(name, item, allowed));
	if (!isPreview && !isConfirmed(run, item, data.contact)) throw new Error(unconfirmed);
	const count = decided.filter(({ action }) => action !== 'keep').length;
	checkMaximum(count, { maximum, label, effect: 'change', purpose: 'erase the person', isPreview }, api.notices);
	if (!isPreview) return await certify(run, types, data, await makeErasure(run, data.contact, decided));
	api.notices.add('Preview: nothing was written. To erase the person, turn off Preview, and confirm with the email address or the ID.');
	return { result: 'to_be_erased', contact: data.contact.id, ...reportedErasure(decided) };
}

/** @throws Error in the user's words if the person was not erased, either */
async function reportEarlierErasure(run: NodeRun, id: string): Promise<IDataObject> {
	const event = await findErasure(run, id);
	if (!event) throw new Error(noContact(id));
	run.api.notices.add(alreadyErased);
	return { result: 'already_erased', ...erasureFacts(id, event), erase: [], make_anonymous: [], keep: [], remains: null };
}

const alreadyErased = 'The person was erased before this run. What else names the person cannot be searched, '
	+ 'since the CRM has forgotten the names and addresses.';

/** @returns what has become of the records: what is not changed is kept */
async function makeErasure(run: NodeRun, contact: IdentifiedRecord, decided: DecidedRecord[]): Promise<DecidedRecord[]> {
	const isContact = ({ path, record }: PersonRecord) => path === '/contacts' && record.id === contact.id;
	// The names of duplicates are known only as long as they are not erased.
	const refusals = await changeRecords(run, decided.filter(({ action }) => action === 'make_anonymous'));
	const toErase = decided.filter(({ action }) => action === 'erase');
	await changeRecords(run, toErase.filter((found) => !isContact(found)));
	// The contact last: until then, an interrupted erasure can be run again.
	await changeRecords(run, toErase.filter(isContact));
	return decided.map((found) => {
		const refusal = refusals.get(found);
		return refusal ? { ...found, action: 'keep', reason: refusalText(refusal) } : found;
	});
}

/** What was erased, and what still names the person. */
async function certify({ n8n, api }: NodeRun, types: Resource[], data: PersonData, decided: DecidedRecord[]): Promise<IDataObject> {
	const { id } = data.contact;
	const { records, events } = await readTraces(api, types, data);
	if (await findRecord(api, encodedPath`/contacts/${id}`)) throw new Error(`The CRM still returns contact ${id}. Run it again; if the problem persists, report it to the CRM’s support.`);
	const event = await findErasure({ api }, id);
	const done = reportedErasure(decided);
	const whyKept = ({ path, record }: PersonRecord) =>
		done.keep.find((found) => found.collection === collectionName(path) && found.id === record.id)?.reason;
	return {
		result: 'erased',
		...erasureFacts(id, event),
		execution: n8n.getExecutionId() ?? null,
		...done,
		erase: done.erase.map(({ collection, id: erasedId }) => ({ collection, id_sha256: sha256(erasedId) })),
		remains: [
			...records.filter(isNamed).map((found) =>
				({ ...reportedTrace(found), reason: whyKept(found) ?? 'It was written meanwhile. Run it again.' })),
			...events.filter(isNamed).map(({ type, id: eventId, at }) => ({ collection: 'events', id: eventId, type, at, reason: loggedValues })),
		],
	};
}

const isNamed = ({ places }: { places: unknown[] }): boolean => places.length > 0;
const loggedValues = 'The log keeps earlier values of records that were not erased until it forgets them.';

function isConfirmed({ n8n }: NodeRun, item: number, contact: IdentifiedRecord): boolean {
	const text = parseText(confirmation.displayName, n8n.getNodeParameter(confirmation.name, item, ''), { otherwise: '' }).toLowerCase();
	const accepted = [contact.id, ...allValuesIn(contact, fieldNamed('email'))];
	return text !== '' && accepted.some((value) => typeof value === 'string' && value.toLowerCase() === text);
}

const unconfirmed = 'Confirm with Email or ID: this is neither an email address nor the ID of the chosen person. '
	+ 'Enter one of them. The person was not erased.';

/** The event of the erasure of a contact; undefined if the log does not have it. */
async function findErasure({ api }: Pick<NodeRun, 'api'>, id: string): Promise<CrmEvent | undefined> {
	const log = await openEventLog(api);
	for await (const event of log.newestFirst(['contact.erased'])) if (String(event.data.object.id) === id) return event;
	return undefined;
}

const erasureFacts = (id: string, event?: CrmEvent) => ({
	contact: sha256(id),
	at: event?.timestamp ?? new Date(systemClock.now()).toISOString(),
	by: (event && causeOf(event).actor) ?? null,
});

async function decideErasure(api: Connection, data: PersonData): Promise<DecidedRecord[]> {
	const decided: DecidedRecord[] = [];
	for (const found of data.records) {
		const decision = await erasureOf(api, data, found);
		if (decision) decided.push({ ...found, ...decision });
	}
	return decided;
}

/** @returns undefined if the record says nothing of the person */
async function erasureOf(api: Connection, { ids, identifiers }: PersonData, found: PersonRecord): Promise<ErasureAction | undefined> {
	const { resource, record, isDeleted, linksToPerson, places } = found;
	const described = await api.describe(resource.path);
	const isContact = resource.value === 'contact';
	const isOfNobodyElse = isPerson(ids, found.path, record.id) || (!isContact && linksToPerson && isOnlyOfPerson(found, ids));
	const isCertain = places.length > 0 && (isContact ? identifiers.sharesAddressWith(record) : linksToPerson || identifiers.hasAddressIn(record));
	// What is deleted already cannot be changed any more.
	if (isOfNobodyElse || (isDeleted && isCertain)) {
		return described?.delete?.takesPermanent ? { action: 'erase' } : keep('The CRM cannot delete it permanently.');
	}
	if (places.length === 0) {
		return linksToPerson && !isDeleted ? keep('It links to the person by an ID, which says nothing any more.') : undefined;
	}
	if (isContact && isDeleted) return keep('It is deleted, and was another contact. If it was the same person, ask the CRM’s provider to erase it.');
	if (isContact) return keep('It is another contact. If it is the same person, merge or erase it.');
	if (resource.value === 'message') return keep('Messages cannot be changed once they were sent, and this one belongs to others.');
	if (isDeleted) return keep('It is deleted, and only has the person’s name, which may be somebody else’s.');
	const patch = await anonymousPatch(api, described?.update?.fields ?? [], found, identifiers);
	return Object.keys(patch).length === 0 ? keep('The CRM does not let these fields be changed.') : { action: 'make_anonymous', patch };
}

const keep = (reason: string): ErasureAction => ({ action: 'keep', reason });

/** Whether a record has no other subject than the person: messages of the contact, and notes, activities and tasks about nobody else. */
function isOnlyOfPerson({ resource, record, linksToOthers }: PersonRecord, ids: ReadonlySet<string>): boolean {
	if (resource.value === 'message') return ids.has(String(record.contact_id));
	const { links } = record;
	const isToPerson = (link: unknown) => isObject(link) && isPerson(ids, `/${String(link.resource)}`, link.id);
	return !linksToOthers && Array.isArray(links) && links.length > 0 && links.every(isToPerson);
}

/** The values that take the person out of a record, as far as they can be written. */
async function anonymousPatch(
	api: Connection, written: Field[], { path, record }: PersonRecord, identifiers: Identifiers,
): Promise<IDataObject> {
	const custom = await customFieldsIfAny(api, path, written);
	const standard = written.filter(({ name }) => name !== allCustomFields);
	const values: IDataObject = {};
	// Without their definitions, custom fields are one value.
	for (const field of custom ? [...standard, ...custom.fields] : written) {
		const value = valueIn(record, field);
		if (identifiers.placesIn(value).length > 0) setAtPath(values, field.path, valueWithout(field, value, identifiers));
	}
	return new RecordComparison(standard, true).difference(record, values).patch;
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

const reportedTrace = ({ path, record, places }: PersonRecord) =>
	({ collection: collectionName(path), id: record.id, fields: places.map(({ field }) => field) });

const reportedErasure = (decided: DecidedRecord[]) => ({
	erase: decided.filter(({ action }) => action === 'erase').map(reportedTrace),
	make_anonymous: decided.filter(({ action }) => action === 'make_anonymous').map(reportedTrace),
	keep: decided.flatMap((found) => (found.action === 'keep' ? [{ ...reportedTrace(found), reason: found.reason }] : [])),
});

/**
 * Erases records or makes them anonymous, type by type.
 *
 * @returns the records that are refused to be made anonymous, with the errors
 * @throws the first other error; Error in the user's words if a record may be about somebody else by now
 */
async function changeRecords(run: NodeRun, records: DecidedRecord[]): Promise<Map<DecidedRecord, Error>> {
	const mayStay = (error: Error) => isRefused(error) && records.every(({ action }) => action === 'make_anonymous');
	const refusals = new Map<DecidedRecord, Error>();
	for (const path of new Set(records.map((found) => found.path))) {
		const ofType = records.filter((found) => found.path === path);
		const planned = ofType.map((found, item): RecordChange => {
			const change = { item, record: found.record, changes: [] };
			return found.action === 'make_anonymous' ? { ...change, action: 'update', patch: found.patch } : { ...change, action: 'delete', isPermanent: true };
		});
		// A further run has keys of its own: it may find other values.
		const identity = { ...run.identity, runKey: randomUUID(), purpose: 'erase' } as const;
		const results = await applyPlan({ ...run, resource: ofType[0]!.resource, identity }, path, planned, { stopsAt: (error) => !mayStay(error) });
		for (const [i, result] of results.entries()) {
			if (result instanceof Error && !mayStay(result)) throw result;
			if (result instanceof Error) refusals.set(ofType[i]!, result);
		}
		const [conflict] = results.flatMap((result) => (result instanceof Error || result?.action !== 'conflict' ? [] : [result]));
		if (conflict) throw new Error(`${collectionName(path)}/${conflict.record!.id}: ${conflict.reason ?? ''} The person was not erased. Run it again.`);
	}
	return refusals;
}
