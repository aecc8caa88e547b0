import { scopes } from '../../sandbox/oauth/scopes.ts';
import { resources } from '../../sandbox/schemas/index.ts';
import { recordsOf } from '../../sandbox/schemas/custom-objects.ts';
import type { Resource } from '../../sandbox/schemas/resource.ts';
import { type Call, type TokenSandbox, tokenSandbox } from './access-tokens.ts';
import type { Json, Reply } from './in-process.ts';

/** What only administrators may change, and what everyone sees: said here once more, by hand. */
const administrative = ['users', 'pipelines', 'custom-fields'];
const seenByEveryone = ['pipelines', 'users', 'tags', 'custom-fields', 'custom-objects'];

const everyScope = [...scopes.keys()];
let sandbox: TokenSandbox;
let people: Person[];
let another: string;
/** A contact of each user, by the user's id. */
let contactOf: Map<string, string>;
let tagId: string;
let machine: Json;
let count = 0;

/** Somebody who calls. */
interface Person {
	name: string;
	/** With exactly these scopes for a resource, as the user has allowed them. */
	call(resource: string): Call;
	/** Undefined if nobody is known by these credentials. */
	may: undefined | ((access: 'read' | 'write', resource: string) => boolean);
	/** The records of all, of the member and of nobody, or of nobody only. */
	sees: readonly Whose[];
}

beforeAll(async () => {
	sandbox = tokenSandbox();
	const { admin, sales, as, with: callWith, post, store } = sandbox;
	const viewer = await sandbox.newUser('viewer');
	another = await sandbox.newUser('member');
	const former = await sandbox.newUser('admin');
	const formerToken = sandbox.grant(former, everyScope).access;
	const user = store.table('users')!.find(former)!;
	// Past the rules, so that the token is there still: what it is worth is looked up at every use.
	store.table('users')!.save({ ...user, status: 'deactivated' });
	contactOf = new Map();
	for (const id of [sales, another]) {
		contactOf.set(id, (await post('/v1/contacts', { last_name: 'x', owner_id: id })).body.id);
	}
	tagId = (await post('/v1/tags', { name: 'one' })).body.id;
	[machine] = (await sandbox.get('/v1/custom-objects')).body.data;

	const all: Whose[] = ['own', 'free', 'foreign'];
	const own: Whose[] = ['own', 'free'];
	const everything = () => true;
	const asMember = (access: string, resource: string) =>
		access === 'read' || !administrative.includes(resource);
	const nameOf = (resource: string) => resource.split('/')[0]!;
	const ofOthers = (resource: string) =>
		everyScope.filter((scope) => !scope.startsWith(`${nameOf(resource)}:`));
	const withAll = (id: string) => {
		const call = as(id, everyScope);
		return () => call;
	};
	people = [
		{ name: 'an API key', call: () => sandbox.send, may: everything, sees: all },
		{ name: 'an administrator', call: withAll(admin), may: everything, sees: all },
		{ name: 'a member', call: withAll(sales), may: asMember, sees: own },
		{
			name: 'a viewer',
			call: withAll(viewer),
			may: (access) => access === 'read',
			sees: ['free'],
		},
		{
			name: 'a member who may only read',
			call: (resource) => as(sales, [`${nameOf(resource)}:read`]),
			may: (access) => access === 'read',
			sees: own,
		},
		{
			name: 'a member who may only write',
			call: (resource) => as(sales, [`${nameOf(resource)}:write`]),
			may: (access, resource) => access === 'write' && asMember(access, resource),
			sees: own,
		},
		{
			name: 'an administrator without scopes for it',
			call: (resource) => as(admin, ofOthers(resource)),
			may: () => false,
			sees: all,
		},
		{
			name: 'somebody who was deactivated',
			call: () => callWith(formerToken),
			may: undefined,
			sees: own,
		},
		{ name: 'a stranger', call: () => callWith('wrong'), may: undefined, sees: own },
	];
});

/** Values that each kind of record can be made of. */
const makers: Record<string, (n: number) => Json> = {
	contacts: (n) => ({ last_name: `Contact ${n}` }),
	companies: (n) => ({ name: `Company ${n}` }),
	deals: (n) => ({ title: `Deal ${n}` }),
	pipelines: (n) => ({
		name: `Pipeline ${n}`,
		stages: ['open', 'won', 'lost'].map((kind) => ({ name: kind, kind })),
	}),
	tickets: (n) => ({ subject: `Ticket ${n}` }),
	messages: (n) => ({ channel: 'other', direction: 'outbound', to: ['x'], text: `Message ${n}` }),
	tasks: (n) => ({ title: `Task ${n}` }),
	notes: (n) => ({ body: `Note ${n}`, links: [] }),
	activities: () => ({ type: 'call', occurred_at: '2026-01-05T10:00:00.000Z' }),
	users: (n) => ({ email: `somebody-${n}@x.example` }),
	tags: (n) => ({ name: `Tag ${n}` }),
	'custom-fields': (n) => ({ resource: 'contacts', key: `key_${n}`, label: 'x', type: 'text' }),
	'custom-objects': (n) => ({
		key: `object_${n}`,
		label_singular: 'x',
		label_plural: 'x',
		primary_field: 'x',
	}),
	records: (n) => ({ custom_fields: { [machine.primary_field]: `Machine ${n}` } }),
};

function valuesOf({ name }: Resource): Json {
	const make = makers[name.split('/').at(-1)!];
	if (!make) throw new Error(`Say above what one of ${name} can be made of.`);
	const values = make(++count);
	const links = [{ resource: 'contacts', id: contactOf.get(sandbox.sales) }];
	return name === 'notes' ? { ...values, links } : values;
}

/** Whose a record is: the member's, nobody's, or somebody else's. */
type Whose = 'own' | 'free' | 'foreign';

/** Makes a record, with the API key. */
async function newRecord(resource: Resource, whose: Whose): Promise<string> {
	const user = whose === 'own' ? sandbox.sales : another;
	const { visibility } = resource;
	const values = valuesOf(resource);
	if (whose !== 'free' && typeof visibility === 'object') {
		if ('through' in visibility) values.contact_id = contactOf.get(user);
		else values[visibility.owner] = user;
	}
	if (whose === 'free' && resource.name === 'messages') {
		values.contact_id = (await sandbox.post('/v1/contacts', { last_name: 'nobody’s' })).body.id;
	}
	const { status, body } = await sandbox.post(`/v1/${resource.name}`, values);
	expect([resource.name, status]).toEqual([resource.name, 201]);
	return body.id;
}

/** Something that can be done, with a record or without. */
interface Deed {
	name: string;
	access: 'read' | 'write';
	/** Whether it is about one record, and leaves none. */
	of: 'one' | 'all' | 'last';
	request(id: string): [method: string, path: string, body?: unknown];
}

function deedsOf(resource: Resource): Deed[] {
	const path = `/v1/${resource.name}`;
	const matchOn = Object.keys(resource.unique)[0];
	const write = (name: string, of: Deed['of'], request: Deed['request']): Deed => {
		return { name, access: 'write', of, request };
	};
	const actions = Object.keys(resource.actions ?? {});
	const hasTags = 'tag_ids' in resource.properties;
	const upserted = () => ({ ...valuesOf(resource), ...(matchOn && uniqueValue(matchOn)) });
	return [
		{ name: 'list', access: 'read', of: 'all', request: () => ['GET', `${path}?sort=-id`] },
		{ name: 'get', access: 'read', of: 'one', request: (id) => ['GET', `${path}/${id}`] },
		write('create', 'all', () => ['POST', path, valuesOf(resource)]),
		write('update', 'one', (id) => ['PATCH', `${path}/${id}`, {}]),
		write('delete', 'last', (id) => ['DELETE', `${path}/${id}`]),
		write('batch create', 'all', () => [
			'POST',
			`${path}/batch/create`,
			{ items: [valuesOf(resource)] },
		]),
		write('batch update', 'one', (id) => ['POST', `${path}/batch/update`, { items: [{ id }] }]),
		write('batch delete', 'last', (id) => ['POST', `${path}/batch/delete`, { items: [{ id }] }]),
		...(matchOn === undefined
			? []
			: [write('upsert', 'all', () => ['PUT', `${path}?match_on=${matchOn}`, upserted()])]),
		...actions.map((name) => write(name, 'one', (id) => ['POST', `${path}/${id}/${name}`, {}])),
		...(hasTags
			? ['PUT', 'DELETE'].map((method) =>
					write(`${method} tag`, 'one', (id) => [method, `${path}/${id}/tags/${tagId}`]),
				)
			: []),
	];
}

/** Of fields that the values above do not have already. */
const uniqueValue = (field: string): Json => {
	const values: Json = { external_id: `x${++count}`, domain: `x${++count}.example` };
	return field === 'email' ? { email: `x${++count}@x.example` } : { [field]: values[field] };
};

/** What became of a request: the same for one, and for one in a batch. */
function outcomeOf({ status, body }: Reply): { status: number; body: Json } {
	const [result] = body?.results ?? [];
	return result ? { status: result.status, body: result.data } : { status, body };
}

const refusals = [401, 403, 404];

/** What is wrong with one cell of the table; undefined if it is as it has to be. */
async function flaw(
	person: Person,
	resource: Resource,
	deed: Deed,
	whose: Whose,
	id: string,
): Promise<string | undefined> {
	const reply = await person.call(resource.name)(...deed.request(id));
	const { status, body } = outcomeOf(reply);
	const isSeen = person.sees.includes(whose);
	const isAllowed = person.may?.(deed.access, resource.name.split('/')[0]!);
	const expected = !person.may ? 401 : !isAllowed ? 403 : deed.of !== 'all' && !isSeen ? 404 : 0;
	const found = refusals.includes(status) ? status : 0;
	const cell = `${person.name}: ${deed.name} of ${resource.name}, ${whose}`;
	if (found !== expected) return `${cell}: ${status}, not ${expected || 'allowed'}`;
	if (found !== 0) return undefined;
	if (deed.name === 'list') {
		const isListed = body.data.some((record: Json) => record.id === id);
		return isListed === isSeen ? undefined : `${cell}: ${isListed ? 'listed' : 'not listed'}`;
	}
	const mayRead = person.may!('read', resource.name);
	const told = status < 300 && body ? Object.keys(body) : ['id', 'version'];
	const isTooMuch = !mayRead && told.join() !== 'id,version';
	return isTooMuch ? `${cell}: told ${told.join()}` : undefined;
}

async function flaws(resource: Resource): Promise<string[]> {
	const isForAll = resource.visibility === 'everyone';
	const kinds: Whose[] = isForAll ? ['free'] : ['own', 'free', 'foreign'];
	const found: string[] = [];
	for (const whose of kinds) {
		let id = await newRecord(resource, whose);
		for (const person of people) {
			for (const deed of deedsOf(resource)) {
				const problem = await flaw(person, resource, deed, whose, id);
				if (problem !== undefined) found.push(problem);
				const isGone = !sandbox.store.table(resource.name)!.find(id);
				if (deed.of === 'last' && (isGone || resource.name === 'users')) {
					id = await newRecord(resource, whose);
				}
			}
		}
	}
	return found;
}

test.each(resources.map(({ name }) => name))('%s: who may do what with whose', async (name) => {
	expect(await flaws(resources.find((resource) => resource.name === name)!)).toEqual([]);
});

test('records of custom objects: who may do what with whose', async () => {
	expect(await flaws(recordsOf(machine))).toEqual([]);
});

test('what everyone sees is said in one place and meant', () => {
	const names = resources.filter((one) => one.visibility === 'everyone').map(({ name }) => name);
	expect(names).toEqual(seenByEveryone);
});
