import { recordsOf } from '../../../sandbox/core/schemas/custom-objects.ts';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import type { Resource } from '../../../sandbox/core/schemas/resource.ts';
import type { InProcess, Json } from './in-process.ts';

/** Records that the made-up ones can refer to. */
export interface Fixtures {
	contactId: string;
	tagId: string;
	/** A custom object. */
	machine: Json;
}

export const createFixtures = async ({ get, post }: InProcess): Promise<Fixtures> => ({
	contactId: (await post('/v1/contacts', { last_name: 'x' })).body.id,
	tagId: (await post('/v1/tags', { name: 'one' })).body.id,
	machine: (await get('/v1/custom-objects')).body.data[0],
});

export const namesOfRecordTypes = [...resources.map(({ name }) => name), 'custom records'];

export const resourceOf = (recordType: string, { machine }: Fixtures): Resource =>
	resources.find(({ name }) => name === recordType) ?? recordsOf(machine);

let count = 0;

/** Creates values for each record type. */
const makers: Record<string, (n: number, fixtures: Fixtures) => Json> = {
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
	notes: (n, { contactId }) => ({
		body: `Note ${n}`,
		links: [{ resource: 'contacts', id: contactId }],
	}),
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
	records: (n, { machine }) => ({ custom_fields: { [machine.primary_field]: `Machine ${n}` } }),
};

/** Values of a new record, unlike those of any other. */
export function valuesOf({ name }: Resource, fixtures: Fixtures): Json {
	const make = makers[name.split('/').at(-1)!];
	if (!make) throw new Error(`Add values for ${name} to makers.`);
	return make(++count, fixtures);
}

/** An operation on a record or on all of them. */
export interface RecordWrite {
	name: string;
	access: 'read' | 'write';
	/** What it is about; `last` is a record that it deletes. */
	of: 'one' | 'all' | 'last';
	request(id: string): [method: string, path: string, body?: unknown];
}

/** Every operation on the records of a resource, by its definition. */
export function recordWritesOf(resource: Resource, { tagId, ...otherFixtures }: Fixtures): RecordWrite[] {
	const values = () => valuesOf(resource, { tagId, ...otherFixtures });
	const path = `/v1/${resource.name}`;
	const matchOn = Object.keys(resource.unique)[0];
	const write = (name: string, of: RecordWrite['of'], request: RecordWrite['request']): RecordWrite => {
		return { name, access: 'write', of, request };
	};
	const actions = Object.keys(resource.actions ?? {});
	const hasTags = 'tag_ids' in resource.properties;
	const upserted = () => ({ ...values(), ...(matchOn && uniqueValue(matchOn)) });
	return [
		{ name: 'list', access: 'read', of: 'all', request: () => ['GET', `${path}?sort=-id`] },
		{ name: 'get', access: 'read', of: 'one', request: (id) => ['GET', `${path}/${id}`] },
		write('create', 'all', () => ['POST', path, values()]),
		write('update', 'one', (id) => ['PATCH', `${path}/${id}`, {}]),
		write('delete', 'last', (id) => ['DELETE', `${path}/${id}`]),
		write('batch create', 'all', () => [
			'POST',
			`${path}/batch/create`,
			{ items: [values()] },
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

/** A value of a unique field that `makers` leaves out, if it is one. */
function uniqueValue(field: string): Json {
	const values: Json = { external_id: `x${++count}`, domain: `x${++count}.example`, email: `x${++count}@x.example` };
	return field in values ? { [field]: values[field] } : {};
}
