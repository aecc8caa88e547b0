import { randomUUID } from 'node:crypto';

import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { systemClock } from '../base/clock';
import { sha256 } from '../base/digest';
import { path as pathOf } from '../api/http/path';
import { findRecord, isAnsweredWith } from '../api/record';
import { applyPlan, describedWrites } from '../changes/apply';
import { comparison } from '../changes/merge';
import type { PlannedChange } from '../changes/plan';
import type { Execution, MayContinue, Operation, Resource } from '../model';
import { ifEmptyOption, recordAt, recordProperty } from '../parameters/recordParameters';
import { eachItem, runAll } from '../schedule';
import { possibleIdsIn } from '../undo/links';
import { readPreview, readText, readWholeNumber } from '../values/readers';
import { writeRecords } from '../writing/batches';
import { requireDescribed } from '../writing/requireWrite';
import { readPersonData, readTraces, type PersonData, type PersonRecord } from './personData';

const erasurePreview: INodeProperties = {
	displayName: 'Preview',
	name: 'preview',
	type: 'boolean',
	default: true,
	description: 'Whether to only return what would change',
};

const confirmation: INodeProperties = {
	displayName: 'Confirm with Email or ID',
	name: 'confirmation',
	type: 'string',
	default: '',
	description: 'The person’s email or ID',
};

const maximum: INodeProperties = {
	displayName: 'Maximum Records',
	name: 'maxErased',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 1000,
	description: 'If there are more, nothing is written',
};

/** @param types the record types that may concern a person */
export function erasePerson(types: Resource[]): Operation {
	return {
		option: { name: 'Erase', value: 'erase', action: 'Erase a person', description: 'Delete permanently' },
		properties: (resource) => [erasurePreview, recordProperty(resource), confirmation, maximum],
		options: [ifEmptyOption],
		output: {
			type: 'object',
			properties: { result: { type: 'string' }, contact: { type: 'string' }, erase: { type: 'array' }, make_anonymous: { type: 'array' }, keep: { type: 'array' } },
		},
		prepare: async (execution) => {
			const deletion = await requireDescribed(execution, 'delete');
			if (!deletion.takesPermanent) throw new Error('This CRM has no permanent deletion: its API description does not offer DELETE with permanent. Nothing was written. Ask its provider to erase the person.');
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
	const isPreview = readPreview(n8n.getNodeParameter(erasurePreview.name, item, ''));
	const data = await readPersonData(api, types, recordAt(execution, item).id);
	const { contact, identifiers } = data;
	const plan = await planErasure(execution, data);
	const count = plan.erased.length + plan.anonymized.length;
	const limit = readWholeNumber(maximum.displayName, n8n.getNodeParameter(maximum.name, item, maximum.default));
	const lists = listsOf(plan);
	if (isPreview) {
		api.notices.add('Preview: nothing was written. To erase the person, turn off Preview, and confirm with the email address or the ID.');
		if (count > limit) api.notices.add(`${count} records would change, and Maximum Records allows ${limit}.`);
		return { result: 'to_be_erased', contact: contact.id, ...lists };
	}
	const confirmed = readText(confirmation.displayName, n8n.getNodeParameter(confirmation.name, item, ''), { otherwise: '' }).toLowerCase();
	if (confirmed !== contact.id.toLowerCase() && (confirmed === '' || !emailsOf(contact).includes(confirmed))) {
		throw new Error('Confirm with Email or ID: this is neither an email address nor the ID of the chosen person. Nothing was written. Enter one of them.');
	}
	if (count > limit) throw new Error(`${count} records would change, and Maximum Records allows ${limit}. Nothing was written. To erase the person, set Maximum Records to ${count}.`);

	const runId = randomUUID();
	const mayContinue: MayContinue = (results) => !n8n.getExecutionCancelSignal()?.aborted && !results.some(isFailure);
	const others = plan.erased.filter(({ record }) => record.id !== contact.id);
	await eraseRecords(execution, others, `${runId}/others`, mayContinue);
	await anonymize(execution, plan.anonymized, runId);
	await eraseRecords(execution, plan.erased.filter(({ record }) => record.id === contact.id), `${runId}/contact`, mayContinue);

	const remaining = await readTraces(api, types, contact, identifiers);
	const isErased = (await findRecord(api, pathOf`/v1/contacts/${contact.id}`)) === undefined;
	if (!isErased) throw new Error(`The CRM still returns contact ${contact.id}. Run it again; if the problem persists, report it to the CRM’s support.`);
	const by = (await findRecord(api, '/v1/users/me').catch(() => undefined))?.id ?? 'an API key';
	const named = remaining.records.filter(({ places }) => places.length > 0);
	const events = remaining.events.filter(({ places }) => places.length > 0);
	return {
		result: 'erased',
		contact: sha256(contact.id),
		at: new Date(systemClock.now()).toISOString(),
		by,
		execution: n8n.getExecutionId() ?? null,
		erase: plan.erased.map(({ path, record }) => ({ collection: path.replace(/^\/v1\//, ''), id_sha256: sha256(record.id) })),
		make_anonymous: lists.make_anonymous,
		keep: lists.keep,
		remains: [
			...named.map(({ path, record, places }) => ({ collection: path.replace(/^\/v1\//, ''), id: record.id, fields: places.map(({ field }) => field), reason: plan.kept.find((other) => other.record.id === record.id)?.reason ?? 'It was written meanwhile. Run it again.' })),
			...events.map(({ type, id, at }) => ({ collection: 'events', id, type, at, reason: 'The log keeps earlier values of records that were not erased until it forgets them.' })),
		],
	};
}

const emailsOf = (contact: IDataObject): string[] =>
	[contact.email, ...((contact.emails ?? []) as IDataObject[]).map(({ value }) => value)].flatMap((email) => (typeof email === 'string' ? [email.toLowerCase()] : []));

async function planErasure({ api }: Execution, { contact, identifiers, records }: PersonData): Promise<ErasurePlan> {
	const plan: ErasurePlan = { erased: [], anonymized: [], kept: [] };
	for (const found of records) {
		const { resource, record, isDeleted, linksToPerson, places } = found;
		const described = await api.describe(resource.path);
		const isOwn = record.id === contact.id || (linksToPerson && isOnlyOfPerson(found, contact));
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
		const { patch } = comparison(described?.update?.fields ?? [], true).difference(record, writable(identifiers.without(record) as IDataObject, described?.update?.fields ?? []));
		if (resource.value === 'contact') plan.kept.push({ ...found, reason: 'It is another contact. If it is the same person, merge or erase it.' });
		else if (resource.value === 'message') plan.kept.push({ ...found, reason: 'Messages cannot be changed once they were sent, and this one belongs to others.' });
		else if (Object.keys(patch).length === 0) plan.kept.push({ ...found, reason: 'The CRM does not let these fields be changed.' });
		else plan.anonymized.push({ ...found, patch });
	}
	plan.erased.sort((a, b) => Number(a.record.id === contact.id) - Number(b.record.id === contact.id));
	return plan;
}

/** Whether a record has no other subject than the person: messages of the contact, and notes, activities and tasks about nobody else. */
function isOnlyOfPerson({ resource, record }: PersonRecord, contact: IDataObject): boolean {
	if (resource.value === 'message') return record.contact_id === contact.id;
	const { links } = record;
	return Array.isArray(links) && links.length > 0 && links.every((link) => possibleIdsIn(link).includes(String(contact.id)));
}

/** The members that an update can write. */
const writable = (record: IDataObject, fields: Array<{ path: string[] }>): IDataObject => {
	const names = new Set(fields.map(({ path: [name] }) => name));
	return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
};

const listsOf = ({ erased, anonymized, kept }: ErasurePlan) => {
	const entry = ({ path, record, places }: PersonRecord) => ({ collection: path.replace(/^\/v1\//, ''), id: record.id, fields: places.map(({ field }) => field) });
	return {
		erase: erased.map(entry),
		make_anonymous: anonymized.map(entry),
		keep: kept.map((found) => ({ ...entry(found), reason: found.reason })),
	};
};

/** A record that is gone was erased by an earlier attempt. */
const isFailure = (result: unknown): result is Error => result instanceof Error && !isAnsweredWith(result, 404);

/** @throws the first error; an erasure can be run again */
async function eraseRecords(execution: Execution, records: PersonRecord[], runId: string, mayContinue: MayContinue): Promise<void> {
	for (const path of new Set(records.map((found) => found.path))) {
		const group = records.filter((found) => found.path === path);
		const typeExecution = forType(execution, group[0]!, `${runId}/${path}`);
		const description = await requireDescribed(typeExecution, 'delete');
		const writeOf = (i: number) => ({ collection: path, id: group[i]!.record.id, path: path + pathOf`/${group[i]!.record.id}`, query: { permanent: true } });
		const work = writeRecords(typeExecution, description, writeOf, () => ({}), { areAlone: true });
		for await (const results of runAll(work, group.length, mayContinue)) {
			for (const { result } of results) if (isFailure(result)) throw result;
		}
	}
}

async function anonymize(execution: Execution, records: ErasurePlan['anonymized'], runId: string): Promise<void> {
	for (const path of new Set(records.map((found) => found.path))) {
		const group = records.filter((found) => found.path === path);
		const typeExecution = forType(execution, group[0]!, `${runId}/anonymous/${path}`);
		const list = await requireDescribed(typeExecution, 'list');
		const planned = group.map(({ record, patch }, item): PlannedChange => ({ action: 'update', item, record, patch, changes: [] }));
		const { done, failures: [failure] } = await applyPlan(typeExecution, { path, list }, planned, await describedWrites(typeExecution, planned));
		if (failure) throw failure.error;
		const conflict = done.find(({ action }) => action === 'conflict');
		if (conflict) throw new Error(`${path.replace(/^\/v1\//, '')}/${conflict.record!.id}: ${conflict.reason} The person was not erased. Run it again.`);
	}
}

const forType = (execution: Execution, { resource }: PersonRecord, run: string): Execution => ({
	...execution, resource, operation: { ...execution.operation, options: [] }, identity: { ...execution.identity, run },
});
