import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { setAtPath } from '../base/ownMembers';
import { isObject, possibleIdsIn } from '../base/json';
import { systemClock } from '../base/clock';
import { sha256 } from '../base/digest';
import { collectionName, path as pathOf } from '../api/http/path';
import { findRecord, isAnsweredWith, isRefused } from '../api/record';
import { applyPlan, changedSinceRead } from '../changes/apply';
import { comparison } from '../changes/merge';
import { checkMaximum } from '../changes/notices';
import type { PlannedChange } from '../changes/plan';
import { valueProblem } from '../fields/checks';
import { allCustomFields, fieldNamed, type Field } from '../fields/field';
import { valueIn } from '../fields/keys';
import { causeOf } from '../log/cause';
import type { CrmEvent } from '../log/crmEvent';
import { openEventLog } from '../log/eventLog';
import type { IdentifiedRecord } from '../lookUp/lookUp';
import { customFieldsIfAny } from '../api/customFields';
import type { Execution, MayContinue, Operation, Resource, Write } from '../model';
import { ifEmptyOption, recordAt, recordProperty } from '../parameters/recordParameters';
import { eachItem, runAll } from '../schedule';
import { parsePreview, parseText, parseWholeNumber } from '../values/parsers';
import { writeRecords } from '../writing/batches';
import { protectVersions, versionOf } from '../writing/replace';
import { requireDescribed } from '../writing/requireWrite';
import type { Identifiers } from './identifiers';
import { noContact, readPersonData, readTraces, type PersonData, type PersonRecord } from './personData';
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
			properties: { result: { type: 'string' }, contact: { type: 'string' }, erase: { type: 'array' }, make_anonymous: { type: 'array' }, keep: { type: 'array' } },
		},
		prepare: async (execution) => {
			const deletion = await requireDescribed(execution, 'delete');
			if (!deletion.takesPermanent) throw new Error('This CRM has no permanent deletion: its API description does not offer DELETE with permanent. Nothing was written. Ask its provider to erase the person.');
			await checkConfirmations(execution);
			return eachItem(async (item) => await erase(execution, item, types));
		},
	};
}

/** What happens to each record that concerns a person. */
interface ErasurePlan {
	/** The contact last: until then, an interrupted erasure can be run again. */
	erased: PersonRecord[];
	anonymized: Array<PersonRecord & { patch: IDataObject }>;
	kept: Array<PersonRecord & { reason: string }>;
}

async function erase(execution: Execution, item: number, types: Resource[]): Promise<IDataObject> {
	const { n8n, api } = execution;
	const isPreview = parsePreview(n8n.getNodeParameter(erasurePreview.name, item, ''));
	const { id } = recordAt(execution, item);
	const data = await readPersonData(api, types, id);
	if (!data) {
		const event = await erasureOf(execution, id);
		if (!event) throw new Error(noContact(id));
		api.notices.add('The person was erased before this run. What else names the person cannot be searched, since the CRM has forgotten the names and addresses.');
		return { result: 'already_erased', ...certified(id, event), erase: [], make_anonymous: [], keep: [], remains: null };
	}
	const { contact } = data;
	const plan = await planErasure(execution, data);
	const count = plan.erased.length + plan.anonymized.length;
	const { displayName: label, name, default: allowed } = maximumRecords;
	const maximum = parseWholeNumber(label, n8n.getNodeParameter(name, item, allowed));
	if (!isPreview && !isConfirmed(execution, item, contact)) throw new Error(unconfirmed);
	checkMaximum(count, { maximum, label, effect: 'change', purpose: 'erase the person', isPreview }, api.notices);
	if (isPreview) {
		api.notices.add('Preview: nothing was written. To erase the person, turn off Preview, and confirm with the email address or the ID.');
		return { result: 'to_be_erased', contact: contact.id, ...listsOf(plan) };
	}

	const runId = randomUUID();
	const mayContinue: MayContinue = (results) => !n8n.getExecutionCancelSignal()?.aborted && !results.some(isFailure);
	const others = plan.erased.filter(({ record }) => record.id !== contact.id);
	// The names of duplicates are known only as long as they are not erased.
	await anonymize(execution, plan, runId);
	await eraseRecords(execution, others, `${runId}/others`, mayContinue);
	await eraseRecords(execution, plan.erased.filter(({ record }) => record.id === contact.id), `${runId}/contact`, mayContinue);

	const remaining = await readTraces(api, types, data);
	const isErased = (await findRecord(api, pathOf`/contacts/${contact.id}`)) === undefined;
	if (!isErased) throw new Error(`The CRM still returns contact ${contact.id}. Run it again; if the problem persists, report it to the CRM’s support.`);
	const event = await erasureOf(execution, contact.id);
	const named = remaining.records.filter(({ places }) => places.length > 0);
	const events = remaining.events.filter(({ places }) => places.length > 0);
	const { make_anonymous, keep } = listsOf(plan);
	return {
		result: 'erased',
		...certified(contact.id, event),
		execution: n8n.getExecutionId() ?? null,
		erase: plan.erased.map(({ path, record }) => ({ collection: collectionName(path), id_sha256: sha256(record.id) })),
		make_anonymous,
		keep,
		remains: [
			...named.map((found) => ({ ...entryOf(found), reason: plan.kept.find(({ record }) => record.id === found.record.id)?.reason ?? 'It was written meanwhile. Run it again.' })),
			...events.map(({ type, id, at }) => ({ collection: 'events', id, type, at, reason: 'The log keeps earlier values of records that were not erased until it forgets them.' })),
		],
	};
}

/** @throws Error in the user's words before anything is written, unless the node goes on after a failed item */
async function checkConfirmations(execution: Execution): Promise<void> {
	const { n8n, api } = execution;
	for (const item of n8n.continueOnFail() ? [] : n8n.getInputData().keys()) {
		if (parsePreview(n8n.getNodeParameter(erasurePreview.name, item, ''))) continue;
		const { id } = recordAt(execution, item);
		const contact = await findRecord(api, pathOf`/contacts/${id}`);
		if (contact && !isConfirmed(execution, item, { ...contact, id })) throw new Error(`${unconfirmed} Nothing was written.`);
	}
}

function isConfirmed({ n8n }: Execution, item: number, contact: IdentifiedRecord): boolean {
	const text = parseText(confirmation.displayName, n8n.getNodeParameter(confirmation.name, item, ''), { otherwise: '' }).toLowerCase();
	return text === contact.id.toLowerCase() || (text !== '' && emailsOf(contact).includes(text));
}

const unconfirmed = 'Confirm with Email or ID: this is neither an email address nor the ID of the chosen person. Enter one of them. The person was not erased.';

/** The event of the erasure of a contact; undefined if the log does not have it. */
async function erasureOf({ api }: Execution, id: string): Promise<CrmEvent | undefined> {
	const log = await openEventLog(api);
	for await (const event of log.newestFirst(['contact.erased'])) if (String(event.data.object.id) === id) return event;
	return undefined;
}

const certified = (id: string, event?: CrmEvent) => ({
	contact: sha256(id),
	at: event?.timestamp ?? new Date(systemClock.now()).toISOString(),
	by: (event && causeOf(event).actor) ?? 'an API key',
});

const emailsOf = (contact: IDataObject): string[] =>
	[contact.email, ...((contact.emails ?? []) as IDataObject[]).map(({ value }) => value)].flatMap((email) => (typeof email === 'string' ? [email.toLowerCase()] : []));

async function planErasure({ api }: Execution, { contact, ids, identifiers, records }: PersonData): Promise<ErasurePlan> {
	const plan: ErasurePlan = { erased: [], anonymized: [], kept: [] };
	for (const found of records) {
		const { resource, record, isDeleted, linksToPerson, places } = found;
		const described = await api.describe(resource.path);
		const isOwn = ids.has(record.id) || (linksToPerson && isOnlyOfPerson(found, ids));
		// What is deleted already cannot be changed any more.
		if (isOwn || (isDeleted && places.length > 0)) {
			if (described?.delete?.takesPermanent) plan.erased.push(found);
			else plan.kept.push({ ...found, reason: 'The CRM cannot delete it permanently.' });
			continue;
		}
		if (places.length === 0) {
			if (linksToPerson && !isDeleted) plan.kept.push({ ...found, reason: 'It links to the person by an ID, which says nothing any more.' });
			continue;
		}
		const written = described?.update?.fields ?? [];
		const custom = await customFieldsIfAny(api, found.path, written);
		// Without their definitions, custom fields are one value.
		const fields = custom ? [...written.filter(({ name }) => name !== allCustomFields), ...custom.fields] : written;
		const { patch } = comparison(written.filter(({ name }) => name !== allCustomFields), true).difference(record, withoutPerson(fields, record, identifiers));
		if (resource.value === 'contact') plan.kept.push({ ...found, reason: 'It is another contact. If it is the same person, merge or erase it.' });
		else if (resource.value === 'message') plan.kept.push({ ...found, reason: 'Messages cannot be changed once they were sent, and this one belongs to others.' });
		else if (Object.keys(patch).length === 0) plan.kept.push({ ...found, reason: 'The CRM does not let these fields be changed.' });
		else plan.anonymized.push({ ...found, patch });
	}
	plan.erased.sort((a, b) => Number(a.record.id === contact.id) - Number(b.record.id === contact.id));
	return plan;
}

/** Whether a record has no other subject than the person: messages of the contact, and notes, activities and tasks about nobody else. */
function isOnlyOfPerson({ resource, record }: PersonRecord, ids: ReadonlySet<string>): boolean {
	if (resource.value === 'message') return ids.has(String(record.contact_id));
	const { links } = record;
	return Array.isArray(links) && links.length > 0 && links.every((link) => possibleIdsIn(link).some((id) => ids.has(id)));
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

/** A record as the lists have it. */
const entryOf = ({ path, record, places }: PersonRecord) => ({ collection: collectionName(path), id: record.id, fields: places.map(({ field }) => field) });

const listsOf = ({ erased, anonymized, kept }: ErasurePlan) => ({
	erase: erased.map(entryOf),
	make_anonymous: anonymized.map(entryOf),
	keep: kept.map((found) => ({ ...entryOf(found), reason: found.reason })),
});

/** A record that is gone was erased by an earlier attempt. */
const isFailure = (result: unknown): result is Error => result instanceof Error && !isAnsweredWith(result, 404);

/** @throws the first error; an erasure can be run again */
async function eraseRecords(execution: Execution, records: PersonRecord[], runId: string, mayContinue: MayContinue): Promise<void> {
	for (const path of new Set(records.map((found) => found.path))) {
		const group = records.filter((found) => found.path === path);
		const typeExecution = forType(execution, group[0]!, `${runId}/${path}`);
		const description = await requireDescribed(typeExecution, 'delete');
		// A record may be about somebody else by now.
		const items = group.map(({ record }): Write => {
			const version = versionOf(record);
			return { collection: path, id: record.id, path: path + pathOf`/${record.id}`, query: { permanent: true }, ...(version !== undefined && { version }) };
		});
		protectVersions(typeExecution, description, group.map(({ record }) => record));
		const work = writeRecords(typeExecution, { description, items, resultFrom: () => ({}) }, true);
		for await (const { item, result } of runAll(work, group.length, mayContinue)) {
			if (!isFailure(result)) continue;
			const reason = changedSinceRead(result);
			throw reason === undefined ? result : notErased(path, group[item]!.record.id, reason);
		}
	}
}

/** Takes the person out of the texts of other records. What the CRM refuses is kept. */
async function anonymize(execution: Execution, plan: ErasurePlan, runId: string): Promise<void> {
	for (const path of new Set(plan.anonymized.map((found) => found.path))) {
		const group = plan.anonymized.filter((found) => found.path === path);
		const typeExecution = forType(execution, group[0]!, `${runId}/anonymous/${path}`);
		const planned = group.map(({ record, patch }, item): PlannedChange => ({ action: 'update', item, record, patch, changes: [] }));
		const { done, failures } = await applyPlan(typeExecution, { path }, planned, { stopsAt: (error) => !isRefused(error) });
		for (const { item = 0, error } of failures) {
			if (!isRefused(error)) throw error;
			plan.kept.push({ ...group[item]!, reason: `The CRM refused to change it: ${error.message}` });
			plan.anonymized.splice(plan.anonymized.indexOf(group[item]!), 1);
		}
		const conflict = done.find(({ action }) => action === 'conflict');
		if (conflict) throw notErased(path, conflict.record!.id, conflict.reason ?? '');
	}
}

const notErased = (path: string, id: string, reason: string): Error =>
	new Error(`${collectionName(path)}/${id}: ${reason} The person was not erased. Run it again.`);

const forType = (execution: Execution, { resource }: PersonRecord, run: string): Execution => ({
	...execution, resource, operation: { ...execution.operation, options: [] }, identity: { ...execution.identity, run, purpose: 'erase' },
});
