import { contacts } from '../../sandbox/core/schemas/contacts.ts';
import { brokenAnswerPromises } from '../fuzz/answer-promises.ts';
import { inProcess } from './harness/in-process.ts';
import { runJob } from './harness/job-client.ts';

const members = (count: number) =>
	Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each([
	['unknown fields', '/v1/contacts', members(20_000)],
	['custom fields', '/v1/contacts', { custom_fields: members(20_000) }],
	['wrong entries', '/v1/contacts', { emails: Array(120_000).fill(1) }],
	['wrong entries of an item', '/v1/tasks/batch/create', { items: [{ links: Array(120_000).fill(1) }] }],
	['items', '/v1/contacts/batch/create', { items: Array(100_000).fill(1) }],
	['levels', '/v1/contacts', `{"custom_fields":{"industry":${nested(100_000)}}}`],
	['levels of a text', '/v1/contacts', `{"last_name":${nested(100_000)}}`],
	['digits', '/v1/deals', `{"amount":${'9'.repeat(500_000)}}`],
])('a body with very many %s is refused with a short message', async (_, path, body) => {
	const { post } = inProcess();
	const response = await post(path, body);
	const text = JSON.stringify(response.body);
	expect(response.status).toBe(422);
	expect(brokenAnswerPromises('POST', path, { ...response, text })).toEqual([]);
	expect(text.length).toBeLessThan(2000);
});

test.each([
	['unknown fields', members(900)],
	['unknown custom fields', { last_name: 'x', custom_fields: members(400) }],
	['unknown members', { last_name: 'x', emails: Array(20).fill(members(10)) }],
	['wrong entries', { last_name: 'x', emails: Array(20).fill({ value: 1, label: 2, primary: 3 }) }],
])('at most twenty errors of one body are reported, of %s', async (_, input) => {
	const { post } = inProcess();
	const { body } = await post('/v1/contacts', input);
	expect(body.errors).toHaveLength(20);
	expect(body.detail).toContain('(and more errors)');
});

test.each([
	['members', JSON.stringify({ emails: Array(120_000).fill(1) })],
	['levels', nested(100_000)],
])('a line of a job with very many %s does not affect other lines', async (_, line) => {
	const { job, results } = await runJob(inProcess(), 'create', `${line}\n{"last_name":"Moreno"}\n`);
	expect(job).toMatchObject({ status: 'completed', succeeded: 1, failed: 1 });
	expect(results.map(({ status }) => status)).toEqual([422, 201]);
});

test.each([
	['unknown fields', () => ({ ...members(900), last_name: 'x' })],
	['custom fields', () => ({ last_name: 'x', custom_fields: members(501) })],
	['tags', () => ({ last_name: 'x', tag_ids: Array(900).fill('tag_1') })],
	['email addresses', () => ({ last_name: 'x', emails: Array(400).fill({ value: 'a@x.example' }) })],
	['members of an entry', () => ({ last_name: 'x', emails: Array(19).fill(members(40)) })],
])('very many %s in each item of a batch are refused before they are read', async (_, item) => {
	const { post } = inProcess();
	const looks = jest.spyOn(contacts.input, 'safeParse');
	const { status, body } = await post('/v1/contacts/batch/create', { items: Array.from({ length: 100 }, item) });
	expect([status, body.summary]).toEqual([207, { total: 100, succeeded: 0, failed: 100 }]);
	expect(looks).not.toHaveBeenCalled();
	jest.restoreAllMocks();
});

test('very many wrong choices are reported in a short message', async () => {
	const { post } = inProcess();
	const response = await post('/v1/contacts', { last_name: 'x', custom_fields: { interests: Array(900).fill('x') } });
	expect(response.status).toBe(422);
	expect(JSON.stringify(response.body).length).toBeLessThan(2000);
});

test.each(['[1,2', '}{', ']]]]', '"', '{"a":"\\', '[[}}', ''])('%j is malformed, whatever its counts', async (text) => {
	const { post } = inProcess();
	expect((await post('/v1/contacts', text)).body.code).toBe('malformed_json');
});

test('commas and brackets in texts are texts', async () => {
	const { post } = inProcess();
	const name = `\\"${'[{,'.repeat(80)}`;
	expect((await post('/v1/contacts', { last_name: name })).body.last_name).toBe(name);
	const description = ',['.repeat(30_000);
	expect((await post('/v1/tickets', { subject: 'x', description })).status).toBe(201);
});
