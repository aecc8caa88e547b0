import { recordsOf } from '../../../sandbox/core/schemas/custom-objects.ts';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import { jobs } from '../../../sandbox/core/schemas/jobs.ts';
import type { Resource, StoredRecord } from '../../../sandbox/core/schemas/resource.ts';
import { webhooks } from '../../../sandbox/core/schemas/webhooks.ts';
import { everyone, onlyUsers } from '../../../sandbox/core/store/log/audience.ts';
import { audienceOf, applicationResources, visibleVia, type Viewer, visibleTo } from '../../../sandbox/core/store/visibility/visibility.ts';

const resource = (name: string): Resource => [...resources, webhooks, jobs].find((candidate) => candidate.name === name)!;
const viewer = (seesAll: boolean, application?: string): Viewer => ({ caller: { type: 'user', id: 'usr_1' }, seesAll, application });
const selected = (who: Viewer, name: string) => visibleTo(who, resource(name)).map(({ sql, values }) => ({ sql, values }));

test('objects of an application are seen only through it, even by administrators', () => {
	const through = [{ sql: "document ->> '$.created_by.id' = ? AND document ->> '$.application_id' = ?", values: ['usr_1', 'cli_1'] }];
	for (const name of ['webhooks', 'jobs']) {
		expect(selected(viewer(true, 'cli_1'), name)).toEqual(through);
		expect(selected(viewer(false, 'cli_1'), name)).toEqual(through);
		expect(selected(viewer(true), name)).toEqual([]);
		expect(selected(viewer(false), name)).toEqual([{ sql: "document ->> '$.created_by.id' = ?", values: ['usr_1'] }]);
	}
	expect([...applicationResources].sort()).toEqual(['jobs', 'webhooks']);
});

test('an application limits nothing else that its user sees', () => {
	for (const application of [undefined, 'cli_1']) {
		expect(selected(viewer(true, application), 'contacts')).toEqual([]);
		expect(selected(viewer(false, application), 'contacts')).toEqual([{ sql: `+"owner_id" IN ('', ?)`, values: ['usr_1'] }]);
		expect(selected(viewer(false, application), 'tags')).toEqual([]);
	}
});

test('a message is seen by its user, and through its linked records', () => {
	const [condition, ...others] = visibleTo(viewer(false), resource('messages'));
	expect(others).toEqual([]);
	expect(condition).toMatchObject({ readsOtherTables: true, values: ['usr_1', 'usr_1', 'usr_1', 'usr_1'] });
	const [ownerCondition, ...through] = condition!.sql.split(' OR ');
	expect(ownerCondition).toBe('+"user_id" = ?');
	expect(through).toEqual(
		['contact', 'ticket', 'deal'].map(
			(kind) => `EXISTS (SELECT 1 FROM ${kind}s WHERE (id = messages."${kind}_id") AND (+"owner_id" IN ('', ?)))`,
		),
	);
});

describe('the receivers of events of a record', () => {
	const record = (values: object) => ({ id: 'x_1', ...values }) as unknown as StoredRecord;
	const owners: Record<string, string | null> = { con_1: 'usr_1', tic_1: 'usr_2', dea_1: null };
	const find = (name: string, id: string) =>
		id in owners && name.startsWith({ con: 'contacts', tic: 'tickets', dea: 'deals' }[id.slice(0, 3)]!)
			? record({ id, owner_id: owners[id] })
			: undefined;
	const audience = (name: string, values: object) => audienceOf(resource(name), record(values), find);

	test.each([
		['of a tag: everybody', 'tags', {}, everyone],
		['of a job: the user who started it', 'jobs', { created_by: { type: 'user', id: 'usr_3' } }, onlyUsers('usr_3')],
		['of a deal: its owner', 'deals', { owner_id: 'usr_1' }, onlyUsers('usr_1')],
		['of a deal without an owner: everybody', 'deals', { owner_id: null }, everyone],
		['of a note: its author', 'notes', { author_id: 'usr_2' }, onlyUsers('usr_2')],
		['of a message without a user and a record: nobody', 'messages', {}, onlyUsers()],
		['of a message: its user', 'messages', { user_id: 'usr_3' }, onlyUsers('usr_3')],
		['of a message about a contact: those who see the contact', 'messages', { contact_id: 'con_1' }, onlyUsers('usr_1')],
		[
			'of a message about several records: those who see any of them', 'messages', { contact_id: 'con_1', ticket_id: 'tic_1' },
			onlyUsers('usr_1', 'usr_2'),
		],
		['of a message about a record without an owner: everybody', 'messages', { contact_id: 'con_1', deal_id: 'dea_1' }, everyone],
		['of a message whose record was deleted: its user', 'messages', { user_id: 'usr_3', contact_id: 'con_9' }, onlyUsers('usr_3')],
	])('%s', (_, name, values, expected) => {
		const { isEveryoneBut, users } = audience(name, values);
		expect({ isEveryoneBut, users: [...users].sort() }).toEqual(expected);
	});
});

test('only messages are seen through other records, each by the field that refers to them', () => {
	const through = (name: string) => visibleVia(resource(name)).map(({ resource: other, field }) => `${other.name}.${field}`);
	expect(Object.fromEntries(resources.map(({ name }) => [name, through(name)]).filter(([, all]) => all!.length > 0))).toEqual({
		contacts: ['messages.contact_id'],
		tickets: ['messages.ticket_id'],
		deals: ['messages.deal_id'],
	});
	const machines = recordsOf({ key: 'machines', primary_field: 'name' } as never);
	expect(visibleVia(machines)).toEqual([]);
});
