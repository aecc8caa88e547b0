import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { duplicatesOf } from '../support/duplicates-node.ts';
import { useFaultyRequests } from '../support/faulty-requests.ts';
import { isThorough, randomRuns } from '../support/random-runs.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { undoing } from '../support/undo-node.ts';

shortenWaits(1);
const sandbox = useSandbox({ contacts: 0 });
const { add, living, record, undo } = undoing(sandbox);

const faulty = useFaultyRequests(sandbox);
let tags: string[];
const seats = 'custom-objects/seats/records';
beforeAll(async () => {
	await add('custom-fields', { resource: 'contacts', key: 'badge', label: 'Badge', type: 'text', unique: true });
	await add('custom-objects', { key: 'seats', label_singular: 'Seat', label_plural: 'Seats', primary_field: 'row' });
	await add('custom-fields', { resource: seats, key: 'row', label: 'Row', type: 'text' });
	for (const resource of ['contacts', 'deals', seats]) {
		await add('custom-fields', { resource, key: 'friend', label: 'Friend', type: 'reference', reference_resource: 'contacts' });
	}
	tags = [(await add('tags', { name: 'a' })).id, (await add('tags', { name: 'b' })).id];
});

const person = fc.nat(5);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const contact = fc.record({
	first: maybe(fc.constantFrom('Ada', 'Augusta')),
	hasEmail: fc.boolean(), hasPhone: fc.boolean(), hasBadge: fc.boolean(), hasKey: fc.boolean(),
	tag: maybe(fc.nat(1)), friend: maybe(person), street: maybe(fc.constantFrom('Rue 1', 'Rue 2')),
});
const kind = fc.constantFrom('deals', 'tickets', 'messages', 'tasks', 'notes', seats);
const link = fc.record({ kind, to: person, also: maybe(person) });
/** A fault before one of so many requests. */
const fault = (requests: number, fromDeletion: boolean, types: string[]) =>
	fc.record({ at: fc.nat(requests - 1), fromDeletion: fc.constant(fromDeletion), type: fc.constantFrom(...types), who: person });
const history = fc.record({
	contacts: fc.array(contact, { minLength: 6, maxLength: 6 }),
	links: fc.array(link, { maxLength: 6 }),
	/** The group of each contact; those of 2 are in none. */
	groups: fc.array(fc.nat(2), { minLength: 6, maxLength: 6 }),
	survivor: fc.constantFrom('oldest', 'newest', 'complete'),
	rule: maybe(fc.constantFrom('longest', 'newest', 'notEmpty', 'survivor')),
	fault: maybe(fc.oneof(
		{ weight: 2, arbitrary: fault(46, false, ['killed', 'killed', 'answer lost', 'edited', 'linked']) },
		{ weight: 1, arbitrary: fault(2, true, ['killed', 'edited', 'linked']) },
	)),
});
type History = typeof history extends fc.Arbitrary<infer One> ? One : never;

const linkTo = (kind: string, id: string, also: string | undefined, i: number): IDataObject => {
	const both = also === undefined || also === id ? [id] : [id, also];
	if (kind === 'deals') return { title: `D${i}`, contact_id: id, contact_ids: both, custom_fields: { friend: also ?? null } };
	if (kind === 'tickets') return { subject: `T${i}`, contact_id: id };
	if (kind === 'messages') return { channel: 'other', direction: 'inbound', from: 'x', to: ['y'], text: 'z', contact_id: id };
	const links = both.map((contactId) => ({ resource: 'contacts', id: contactId }));
	if (kind === 'tasks') return { title: `K${i}`, links };
	return kind === 'notes' ? { body: `N${i}`, links } : { custom_fields: { row: `${i}`, friend: id } };
};

let histories = 0;

/** Plays a history. @returns a description of each broken promise */
async function brokenBy({ contacts, links, groups, survivor, rule, fault }: History): Promise<string[]> {
	const broken: string[] = [];
	const name = `h${++histories}`;
	const people = contacts.map(({ first, hasEmail, hasPhone, hasBadge, hasKey, tag, street }, i) => ({
		last_name: name, first_name: first ?? null, tag_ids: tag === undefined ? [] : [tags[tag]],
		...(hasEmail && { email: `${name}-${i}@x.example` }), ...(hasPhone && { phone: `+4420718${10_000 + i}` }),
		...(street !== undefined && { address: { street } }),
		...(hasBadge && { custom_fields: { badge: `${name}-${i}` } }), ...(hasKey && { external_id: `${name}-${i}` }),
	}));
	const batch = async (operation: string, items: object[]) =>
		(await sandbox.call('POST', `/v1/contacts/batch/${operation}`, { items })).body.results as Array<{ id: string }>;
	const ids = (await batch('create', people)).map(({ id }) => id);
	const friends = contacts.flatMap(({ friend }, i) =>
		friend === undefined ? [] : [{ id: ids[i], custom_fields: { friend: ids[friend] } }],
	);
	if (friends.length > 0) await batch('update', friends);
	const others: Array<[string, string]> = [];
	for (const [i, { kind, to, also }] of links.entries()) {
		others.push([kind, (await add(kind, linkTo(kind, ids[to]!, also === undefined ? undefined : ids[also], i))).id]);
	}
	/** All records, those of contacts first, without what the service sets. */
	const all = async (contactIds: string[]) => {
		const listed = await living(name);
		const found = contactIds.map((id) => listed.find((contact) => contact.id === id));
		return [...found, ...(await Promise.all(others.map(async ([kind, id]) => await record(kind, id))))];
	};
	const before = await all(ids);
	const members = [0, 1].map((group) => ids.filter((_, i) => groups[i] === group));
	const parameters = { survivor, ...(rule && { fieldRules: { rows: [{ field: 'first_name', rule }] } }), options: { maxWait: 1 } };
	const ran: string[] = [];
	const since = new Date().toISOString();
	const merge = async (credential = sandbox.credential): Promise<IDataObject[] | undefined> => {
		const executionId = `${name}-${ran.length}`;
		ran.unshift(executionId);
		return await duplicatesOf({ credential }).merge(members, parameters, { executionId }).then(({ items }) => items, () => undefined);
	};
	let edited: string | undefined;
	if (fault) {
		faulty.plan(fault, async () => {
			if (fault.type === 'edited') {
				const { status } = await sandbox.call('PATCH', `/v1/contacts/${ids[fault.who]}`, { job_title: `${name} edited` });
				if (status === 200) edited = ids[fault.who];
			} else {
				const { status, body } = await sandbox.call('POST', '/v1/deals', { title: 'Late', contact_id: ids[fault.who] });
				if (status === 201) others.push(['deals', String(body.id)]);
			}
		});
		await merge(faulty.credential());
	}
	let done = await merge();
	if (done?.some(({ result }) => result === 'conflict')) done = await merge();
	if (!done) return ['a merge without a fault failed'];

	const now = await all(ids);
	const target = new Map<string, string>();
	for (const [group, member] of members.entries()) {
		const { result, id } = done[group]!;
		if (member.length < 2) {
			if (result !== 'refused') broken.push(`a group of ${member.length} was ${String(result)}`);
			continue;
		}
		const isMerged = result === 'merged' || result === 'already_merged';
		if (!isMerged) broken.push(`group ${group} was ${String(result)}: ${String(done[group]!.reason)}`);
		for (const memberId of member) target.set(memberId, String(id));
		const places = member.map((memberId) => ids.indexOf(memberId));
		const merged = now[ids.indexOf(String(id))] as IDataObject;
		if (places.some((i) => ids[i] !== id && now[i])) broken.push(`a duplicate of group ${group} is still there`);
		const text = JSON.stringify(merged);
		for (const i of places) {
			const { hasEmail, hasPhone, tag } = contacts[i]!;
			if (hasEmail && !text.includes(`${name}-${i}@x.example`)) broken.push(`the address of #${i} is lost`);
			if (hasPhone && !text.includes(`+4420718${10_000 + i}`)) broken.push(`the number of #${i} is lost`);
			if (tag !== undefined && !text.includes(tags[tag]!)) broken.push(`the tag of #${i} is lost`);
		}
		const has = (filled: (of: (typeof contacts)[number]) => unknown) => places.some((i) => filled(contacts[i]!));
		if (has(({ hasKey }) => hasKey) && merged.external_id === null) broken.push('no external ID is left');
		if (has(({ hasBadge }) => hasBadge) && !text.includes(`"badge":"${name}`)) broken.push('no badge is left');
		if (has(({ first }) => first) && rule !== 'survivor' && merged.first_name === null) broken.push('no first name is left');
		if (has(({ street }) => street) && (merged.address as IDataObject | null)?.street == null) broken.push('no street is left');
		if (edited && member.includes(edited) && !text.includes('edited')) broken.push('an edit is lost');
	}
	/** The ids that a record links to, in order. */
	const linked = (of: IDataObject | undefined) => {
		const { links: list, contact_id: main, contact_ids: several, custom_fields: custom } = of ?? {};
		const inLists = (list as IDataObject[] | undefined)?.map(({ id }) => id);
		const values = [main, several, inLists, (custom as IDataObject | undefined)?.friend];
		return values.map((value) => [...new Set([(value ?? []) as string[]].flat())]);
	};
	for (const [i, was] of before.entries()) {
		const is = now[i];
		if (!is || (i < ids.length && target.has(ids[i]!))) continue;
		const [arrived, expected] = [linked(is), linked(was).map((some) => [...new Set(some.map((id) => target.get(id) ?? id))])]
			.map((some) => JSON.stringify(some));
		if (arrived !== expected) broken.push(`#${i} links to ${arrived}, not ${expected}`);
	}
	const isLost = (id: string) => target.has(id) && target.get(id) !== id;
	if (now.slice(before.length).some((late) => linked(late)[0]!.some(isLost))) broken.push('a late link was lost');
	if (edited !== undefined || fault?.type === 'linked') return broken;

	const newIds = [...ids];
	// An interrupted merge and the one that went on are undone together.
	const together = { undoOf: 'workflow', undoId: 'workflow-1', since };
	for (const { id, new_id: newId } of (await undo(ran[0]!, ran.length > 1 ? together : {})).items) {
		const place = newIds.indexOf(String(id));
		if (newId !== undefined && place >= 0) newIds[place] = String(newId);
	}
	const mapped = (of: unknown) => JSON.stringify(of, (key, value: unknown) => {
		if (/_at$|_by$|^version$/.test(key)) return undefined;
		const place = typeof value === 'string' ? Math.max(newIds.indexOf(value), ids.indexOf(value)) : -1;
		return place >= 0 ? `#${place}` : value;
	});
	const back = await all(newIds);
	for (const [i, was] of before.entries()) {
		if (mapped(back[i]) !== mapped(was)) broken.push(`the undo left #${i} as ${mapped(back[i])}, not ${mapped(was)}`);
	}
	return broken;
}

test('merges of random records arrive whole after faults and edits, and are undone', async () => {
	const property = fc.asyncProperty(history, async (played) => {
		expect(await brokenBy(played)).toEqual([]);
	});
	await fc.assert(property, { ...randomRuns(80, 3), endOnFailure: true });
}, isThorough ? 7_200_000 : 1_800_000);
