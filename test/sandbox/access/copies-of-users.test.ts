import * as fc from 'fast-check';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import type { Resource } from '../../../sandbox/core/schemas/resource.ts';
import { randomRuns } from '../../support/random-runs.ts';
import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import { createFixtures, type Fixtures, valuesOf } from '../harness/record-writes.ts';
import type { Json } from '../harness/in-process.ts';

/** The resources whose records not everybody sees. */
const seenBySome = resources.filter(({ visibility }) => typeof visibility === 'object');

/** The field with the user who sees a record, and those with the records it is seen through. */
function sightOf({ visibility }: Resource): { user: string; through: string[] } {
	if (typeof visibility !== 'object') throw new Error('Everybody sees it.');
	return 'through' in visibility
		? { user: visibility.user, through: visibility.through }
		: { user: visibility.owner, through: [] };
}

const targetOf = ({ properties }: Resource, field: string): string => properties[field]!['x-resource'] as string;

/** Records that are seen through others, and those others, come up more often than the rest. */
const recordTypes = seenBySome.flatMap((resource) => {
	const { through } = sightOf(resource);
	const links = through.flatMap((field) => [targetOf(resource, field), resource.name]);
	return [resource.name, ...links, ...links];
});

interface Step {
	deed: 'create' | 'hand over' | 'link' | 'delete';
	recordType: string;
	record: number;
	/** A user, or nobody. */
	user: number;
	link: number;
}

const anyStep: fc.Arbitrary<Step> = fc.record({
	deed: fc.constantFrom('create', 'create', 'hand over', 'hand over', 'hand over', 'link', 'delete'),
	recordType: fc.constantFrom(...recordTypes),
	record: fc.nat(2),
	user: fc.nat(2),
	link: fc.nat(9),
});

/** The sandbox of a history, its users, and the IDs of its records. */
class History {
	readonly sandbox: TokenSandbox;
	readonly users: Array<string | null>;
	private readonly fixtures: Fixtures;
	private readonly idsByResource = new Map<string, string[]>();

	constructor(sandbox: TokenSandbox, users: Array<string | null>, fixtures: Fixtures) {
		this.sandbox = sandbox;
		this.users = users;
		this.fixtures = fixtures;
	}

	async take({ deed, recordType, record, user, link }: Step): Promise<void> {
		const { post, patch, delete: remove } = this.sandbox;
		const resource = seenBySome.find(({ name }) => name === recordType)!;
		const { user: userField, through } = sightOf(resource);
		const links = through.flatMap((field) =>
			[null, ...this.idsOf(targetOf(resource, field))].map((target) => ({ [field]: target })),
		);
		const linked = links[link % (links.length || 1)];
		const ids = this.idsOf(resource.name);
		const id = ids[record % (ids.length || 1)];
		const path = `/v1/${resource.name}/${id}`;
		if (deed === 'create') {
			const values = { ...valuesOf(resource, this.fixtures), direction: 'inbound', ...linked };
			if (resource.name !== 'messages') delete values['direction'];
			const { body } = await post(`/v1/${resource.name}`, { ...values, [userField]: this.users[user] });
			ids.push(body.id);
		} else if (id !== undefined && deed === 'hand over') {
			await patch(path, { [userField]: this.users[user] });
		} else if (id !== undefined && deed === 'link' && linked) {
			await patch(path, linked);
		} else if (id !== undefined && deed === 'delete') {
			await remove(path);
		}
	}

	private idsOf(name: string): string[] {
		if (!this.idsByResource.has(name)) this.idsByResource.set(name, []);
		return this.idsByResource.get(name)!;
	}
}

const scopes = [...seenBySome.map(({ name }) => `${name}:read`), 'events:read'];

/** Every page of a list, with its total on each. */
async function listOf(call: ReturnType<TokenSandbox['as']>, path: string): Promise<Json[]> {
	const records: Json[] = [];
	const totals = new Set<number>();
	let cursor: string | null = '';
	do {
		const { body }: Json = await call('GET', `${path}limit=100${cursor && `&cursor=${cursor}`}`);
		records.push(...body.data);
		totals.add(body.total);
		cursor = body.next_cursor;
	} while (cursor !== null);
	expect([path, ...totals]).toEqual([path, records.length]);
	return records;
}

test('a copy that a user maintains from events equals the lists that the user sees, whatever happens', async () => {
	const history = fc.array(anyStep, { minLength: 10, maxLength: 40 });
	const now = Date.parse('2026-03-01T12:00:00.000Z');
	await fc.assert(
		fc.asyncProperty(history, async (steps) => {
			const sandbox = tokenSandbox({ now: () => now });
			const another = await sandbox.newUser('member');
			const fixtures = await createFixtures(sandbox);
			const users = [sandbox.sales, another];
			const story = new History(sandbox, [...users, null], fixtures);
			const calls = users.map((id) => sandbox.as(id, scopes));
			for (const step of steps) {
				// Totals are right at once, not only at the end.
				for (const call of calls) await listOf(call, '/v1/messages?');
				await story.take(step);
			}
			for (const call of calls) {
				const copy = new Map<string, Json>();
				for (const { type, data } of await listOf(call, '/v1/events?')) {
					if (type.endsWith('.deleted')) copy.delete(data.object.id);
					else copy.set(data.object.id, data.object);
				}
				const lists = await Promise.all(seenBySome.map(({ name }) => listOf(call, `/v1/${name}?`)));
				const seen = lists.flat().filter(({ id }) => id !== fixtures.contactId || copy.has(id));
				const byId = (records: Json[]) => records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
				expect(byId([...copy.values()])).toEqual(byId(seen));
			}
			sandbox.store.close();
		}),
		randomRuns(40),
	);
});
