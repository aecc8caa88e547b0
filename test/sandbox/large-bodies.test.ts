import { brokenPromises } from '../fuzz/promises.ts';
import { inProcess } from './in-process.ts';
import { runJob } from './job-client.ts';

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
])('a body with very many %s is refused in few words', async (_, path, body) => {
	const { post } = inProcess();
	const reply = await post(path, body);
	const text = JSON.stringify(reply.body);
	expect(reply.status).toBe(422);
	expect(brokenPromises('POST', path, { ...reply, text })).toEqual([]);
	expect(text.length).toBeLessThan(2000);
});

test('no more than a hundred errors are told of one body', async () => {
	const { post } = inProcess();
	const { body } = await post('/v1/contacts', members(4000));
	expect(body.errors).toHaveLength(100);
	expect(body.detail).toContain('(3999 more errors)');
});

test.each([
	['members', JSON.stringify({ emails: Array(120_000).fill(1) })],
	['levels', nested(100_000)],
])('a line of a job with very many %s spoils no other line', async (_, line) => {
	const { job, results } = await runJob(inProcess(), 'create', `${line}\n{"last_name":"Moreno"}\n`);
	expect(job).toMatchObject({ status: 'completed', succeeded: 1, failed: 1 });
	expect(results.map(({ status }) => status)).toEqual([422, 201]);
});
