import { scopes } from '../../../sandbox/domain/access/scopes.ts';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import type { Resource } from '../../../sandbox/core/schemas/resource.ts';
import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import {
	createFixtures,
	type Fixtures,
	namesOfRecordTypes,
	type RecordWrite,
	recordWritesOf,
	resourceOf,
	valuesOf,
} from '../harness/record-writes.ts';
import type { Call, Json, Reply } from '../harness/in-process.ts';

/** These two are repeated by hand, so that the test notices changes. */
const seenByEveryone = ['pipelines', 'users', 'tags', 'custom-fields', 'custom-objects'];

const administrative = ['users', 'pipelines', 'custom-fields', 'custom-objects'];

const memberMay = (access: 'read' | 'write', resource: string): boolean => access === 'read' || !administrative.includes(resource);

const everyScope = [...scopes.keys()];
let sandbox: TokenSandbox;
let people: Person[];
let another: string;
/** A contact of each user, by the user's id. */
let contactOf: Map<string, string>;
let fixtures: Fixtures;

/** Somebody who calls. */
interface Person {
	name: string;
	/** With exactly these scopes for a resource, as the user has allowed them. */
	call(resource: string): Call;
	/** Undefined if the credentials are invalid. */
	may: undefined | ((access: 'read' | 'write', resource: string) => boolean);
	/** The owners of the records that they see. */
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
	// Written past the rules, so that the token still exists: each use looks up its rights.
	store.table('users')!.save({ ...user, status: 'deactivated' });
	contactOf = new Map();
	for (const id of [sales, another]) {
		contactOf.set(id, (await post('/v1/contacts', { last_name: 'x', owner_id: id })).body.id);
	}
	fixtures = { ...(await createFixtures(sandbox)), contactId: contactOf.get(sales)! };

	const all: Whose[] = ['own', 'free', 'foreign'];
	const ownAndFree: Whose[] = ['own', 'free'];
	const everything = () => true;
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
		{ name: 'a member', call: withAll(sales), may: memberMay, sees: ownAndFree },
		{ name: 'a viewer', call: withAll(viewer), may: (access) => access === 'read', sees: ['free'] },
		{
			name: 'a member who may only read',
			call: (resource) => as(sales, [`${nameOf(resource)}:read`]),
			may: (access) => access === 'read',
			sees: ownAndFree,
		},
		{
			name: 'a member who may only write',
			call: (resource) =>
				as(sales, [`${nameOf(resource)}:${resource === 'custom-objects' ? 'define' : 'write'}`]),
			may: (access, resource) => access === 'write' && memberMay(access, resource),
			sees: ownAndFree,
		},
		{
			name: 'an administrator without scopes for it',
			call: (resource) => as(admin, ofOthers(resource)),
			may: () => false,
			sees: all,
		},
		{ name: 'somebody who was deactivated', call: () => callWith(formerToken), may: undefined, sees: ownAndFree },
		{ name: 'a stranger', call: () => callWith('wrong'), may: undefined, sees: ownAndFree },
	];
});

/** Who owns a record: the member, nobody, or somebody else. */
type Whose = 'own' | 'free' | 'foreign';

/** Makes a record, with the API key. */
async function newRecord(resource: Resource, whose: Whose): Promise<string> {
	const user = whose === 'own' ? sandbox.sales : another;
	const { visibility } = resource;
	const values = valuesOf(resource, fixtures);
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

/** The outcome of a request, or of the only item of a batch. */
function outcomeOf({ status, body }: Reply): { status: number; body: Json } {
	const [result] = body?.results ?? [];
	return result ? { status: result.status, body: result.data } : { status, body };
}

const refusals = [401, 403, 404];

/** What is wrong in a cell of the table, if anything. */
async function flaw(
	person: Person,
	resource: Resource,
	write: RecordWrite,
	whose: Whose,
	id: string,
): Promise<string | undefined> {
	const response = await person.call(resource.name)(...write.request(id));
	const { status, body } = outcomeOf(response);
	const isSeen = person.sees.includes(whose);
	const isAllowed = person.may?.(write.access, resource.name);
	const expected = !person.may ? 401 : !isAllowed ? 403 : write.of !== 'all' && !isSeen ? 404 : 0;
	const found = refusals.includes(status) ? status : 0;
	const cell = `${person.name}: ${write.name} of ${resource.name}, ${whose}`;
	if (found !== expected) return `${cell}: ${status}, not ${expected || 'allowed'}`;
	if (found !== 0) return undefined;
	if (write.name === 'list') {
		const isListed = body.data.some((record: Json) => record.id === id);
		return isListed === isSeen ? undefined : `${cell}: ${isListed ? 'listed' : 'not listed'}`;
	}
	const mayRead = person.may!('read', resource.name);
	const returnedFields = status < 300 && body ? Object.keys(body) : ['id', 'version'];
	const isTooMuch = !mayRead && returnedFields.join() !== 'id,version';
	return isTooMuch ? `${cell}: told ${returnedFields.join()}` : undefined;
}

async function flaws(resource: Resource): Promise<string[]> {
	const isForAll = resource.visibility === 'everyone';
	const kinds: Whose[] = isForAll ? ['free'] : ['own', 'free', 'foreign'];
	const found: string[] = [];
	for (const whose of kinds) {
		let id = await newRecord(resource, whose);
		for (const person of people) {
			for (const write of recordWritesOf(resource, fixtures)) {
				const problem = await flaw(person, resource, write, whose, id);
				if (problem !== undefined) found.push(problem);
				const isGone = !sandbox.store.table(resource.name)!.find(id);
				if (write.of === 'last' && (isGone || resource.name === 'users')) {
					id = await newRecord(resource, whose);
				}
			}
		}
	}
	return found;
}

test.each(namesOfRecordTypes)('%s: who may do what with whose records', async (recordType) => {
	expect(await flaws(resourceOf(recordType, fixtures))).toEqual([]);
});

test('resources that everyone sees are declared in one place', () => {
	const names = resources.filter((resource) => resource.visibility === 'everyone').map(({ name }) => name);
	expect(names).toEqual(seenByEveryone);
});
