import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { alteredService } from './harness/altered-service.ts';
import { failure, run } from './harness/node-runs.ts';
import { filterRows, getMany } from './harness/parameters.ts';
import { useSandbox } from './harness/sandbox.ts';
import { teamsIn } from './harness/sync-node.ts';

const sandbox = useSandbox();
const service = alteredService(sandbox, true);
const teams = teamsIn(sandbox);

/** Filters by objects, each written in another way. */
const parameters = [
	{ name: 'deep', in: 'query', style: 'deepObject', explode: true },
	{ name: 'apart', in: 'query', style: 'form', explode: true },
	{ name: 'joined', in: 'query', style: 'form', explode: false },
].map((parameter) => ({ ...parameter, schema: { type: 'object', properties: { from: { type: 'string' }, to: { type: 'string' } } } }));
parameters.push({ name: 'whole', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } } as never);

beforeEach(() =>
	service.edit(({ path, body }) => {
		if (!path.endsWith('/openapi.json')) return;
		const paths = body.paths as Record<string, { get: { parameters: unknown[] } }>;
		paths['/v1/contacts']!.get.parameters.push(...parameters);
	}),
);

const lists = () => service.passed.filter((request) => request.startsWith('GET /v1/contacts'));
const setup = (field: string, value: unknown) => ({
	credential: service.credential,
	parameters: { ...getMany('contact'), filters: { rows: [{ field, operator: 'is', value }] } } as INodeParameters,
	items: [{ two: '2' }] as IDataObject[],
});

const withoutValue = [
	'{}', '={{ ({}) }}', '={{ "{}" }}', '={{ JSON.stringify({ from: $json.since }) }}', '={{ ({ from: $json.since }) }}', '{"from":null}',
	'{"from":""}', '{"from":[]}', '{"from":{"at":" "}}',
];

test.each(parameters.map(({ name }) => name))('an object without a value is not a filter: %s', async (field) => {
	for (const value of withoutValue)
		expect([value, (await failure(setup(field, value))).message]).toEqual([value, expect.stringContaining(': the filter has no value.')]);
	expect(lists()).toEqual([]);
});

test.each(['deep', 'apart'])('an object with a member without a name is refused: %s', async (field) => {
	expect((await failure(setup(field, '{"":1}'))).message).toContain('does not describe how to filter by a value such as');
	expect(lists()).toEqual([]);
});

test('an object with a value is sent', async () => {
	await run(setup('deep', '={{ ({ from: $json.two }) }}')).catch(() => undefined);
	expect(decodeURIComponent(lists()[0]!)).toContain('deep[from]=2');
});

test('a sync whose scope is an empty object deletes nothing', async () => {
	const { team, records } = teams.newTeam(6);
	await teams.add(records);
	const filters = filterRows({ deep: '={{ JSON.stringify({ from: $json.since }) }}' });
	const more = { filters, missingInSource: 'delete', maxDeletionsShare: 100 };
	await expect(teams.run(records.slice(0, 3), more, { credential: service.credential })).rejects.toThrow('Deep: the filter has no value');
	expect(await teams.listed(team)).toHaveLength(6);
});

test.each([
	['text', { type: 'string', enum: ['0', '1'] }, '1', '0'],
	['number', { type: 'integer', enum: [1, 0] }, '1', '0'],
	['words', { type: 'string', enum: ['yes', 'no'] }, 'yes', 'no'],
	['boolean', { type: 'boolean' }, 'true', 'false'],
	['half', { type: 'string', enum: ['yes'] }, 'yes', undefined],
	['unsaid', { type: 'string' }, undefined, undefined],
	['several', { type: 'string', enum: ['1', 'yes', 'no'] }, undefined, 'no'],
])('Is Empty is sent as the description defines it, and not offered if it defines none: %s', async (_, schema, yes, no) => {
	service.edit(({ path, body }) => {
		if (!path.endsWith('/openapi.json')) return;
		const paths = body.paths as Record<string, { get: { parameters: unknown[] } }>;
		paths['/v1/contacts']!.get.parameters.push({ name: 'fax[empty]', in: 'query', schema });
	});
	for (const [operator, expectedValue] of [['isEmpty', yes], ['isNotEmpty', no]] as const) {
		service.passed.splice(0);
		const parameters = { ...getMany('contact'), filters: { rows: [{ field: 'fax', operator }] } } as INodeParameters;
		const outcome = await run({ credential: service.credential, parameters }).catch((error: Error) => error.message);
		if (expectedValue === undefined) expect(outcome).toContain('Fax: the CRM cannot filter this field by');
		expect(lists().map((list) => new URLSearchParams(list.split('?')[1]).get('fax[empty]'))).toEqual(
			expectedValue === undefined ? [] : [expectedValue],
		);
	}
});
