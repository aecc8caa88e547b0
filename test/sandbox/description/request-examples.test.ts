import { document } from '../harness/contract.ts';
import { inProcess, type InProcess, type Json } from '../harness/in-process.ts';

const { paths, components } = document;

const withBody = Object.entries<Json>(paths).flatMap(([path, methods]) =>
	Object.entries<Json>(methods).flatMap(([method, { requestBody, parameters = [] }]) => {
		const schema = requestBody?.content['application/json']?.schema;
		const named = schema?.$ref && components.schemas[schema.$ref.split('/').at(-1)];
		const body = (named ?? schema)?.example;
		const matchOn = parameters.find(({ name }: Json) => name === 'match_on')?.schema;
		// Each parameter of the path has an example, unless the seed has no such record.
		const address = (methods.parameters ?? []).reduce(
			(filled: string, { name, example }: Json) => filled.replace(`{${name}}`, example ?? `{${name}}`),
			path,
		);
		return schema ? [{ method: method.toUpperCase(), path, address, body, matchOn }] : [];
	}),
);

/** Creates a record that the seed does not have. @returns its id */
async function prepare({ post }: InProcess, path: string): Promise<string> {
	const isWebhook = path.startsWith('/v1/webhooks/');
	const schema = isWebhook ? 'WebhookCreate' : 'MessageCreate';
	const scheduled = { ...(!isWebhook && { scheduled_at: '2026-12-31T08:00:00.000Z' }) };
	const created = await post(isWebhook ? '/v1/webhooks' : '/v1/messages', {
		...components.schemas[schema].example,
		...scheduled,
	});
	return created.body.id;
}

/** A sandbox for each way of writing, so that it has no effect on the examples of the others. */
const accounts = new Map<string, InProcess>();
function accountFor(method: string, path: string): InProcess {
	const way = `${method} ${/(batch|\{id\})\/\w+$/.exec(path)?.[0] ?? ''}`;
	const account = accounts.get(way) ?? inProcess({ contacts: 20, now: () => Date.parse('2026-03-02T10:00:00.000Z') });
	accounts.set(way, account);
	return account;
}

test.each(withBody)('the example of $method $path succeeds unchanged', async (example) => {
	const { method, path, address, body, matchOn } = example;
	const crm = accountFor(method, path);
	const needsOther = address.includes('{id}') || path.endsWith('/schedule');
	const id = needsOther ? await prepare(crm, path) : '';
	const field = matchOn && (matchOn.enum ?? matchOn.anyOf[0].enum)[0];
	const query = field ? `?match_on=${field}` : '';
	const to = path.endsWith('/schedule') ? path.replace('{id}', id) : address.replace('{id}', id);
	const response = await crm.send(method, to + query, body);
	// Other records may need the only record of a kind.
	const errors = response.body.results?.flatMap(({ error }: Json) => error ?? []) ?? [];
	expect(errors.filter(({ code }: Json) => code !== 'in_use')).toEqual([]);
	expect([response.status, response.body.detail]).toEqual([expect.any(Number), undefined]);
	expect(Math.floor(response.status / 100)).toBe(2);
});
