import { startSecondService, type SecondService } from './second-server.ts';

type Json = Record<string, unknown>;

describe('the second service', () => {
	let service: SecondService;
	let keys = 0;

	beforeEach(async () => {
		service = await startSecondService({ people: 260 });
	});
	afterEach(() => service.close());

	async function call(method: string, path: string, body?: unknown, headers: Json = {}) {
		const response = await fetch(`${service.url}${path}`, {
			method,
			headers: {
				authorization: `Bearer ${service.apiKey}`,
				...(method === 'GET' ? {} : { 'x-idempotency-key': `key ${++keys}` }),
				...(body === undefined ? {} : { 'content-type': 'application/json' }),
				...(headers as Record<string, string>),
			},
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		return { status: response.status, headers: response.headers, body: JSON.parse(text || 'null') };
	}
	const reasonOf = async (answer: ReturnType<typeof call>) => {
		const { status, body } = await answer;
		return [status, body.error.reason];
	};

	test('pages follow one another by after and contain every contact once', async () => {
		const first = await call('GET', '/v1/contacts?page_size=250');
		const second = await call('GET', `/v1/contacts?page_size=250&after=${first.body.next_cursor}`);
		const ids = [...first.body.data, ...second.body.data].map(({ id }: Json) => id);
		expect(first.body.total).toBe(260);
		expect(new Set(ids).size).toBe(260);
		expect(second.body.next_cursor).toBeNull();
	});

	test('a page larger than 250 is refused', async () => {
		const answer = call('GET', '/v1/contacts?page_size=251');
		expect(await reasonOf(answer)).toEqual([400, 'bad_page_size']);
	});

	test('a cursor of another list is refused', async () => {
		const { body } = await call('GET', '/v1/contacts?vip=false');
		const other = call('GET', `/v1/contacts?vip=true&after=${body.next_cursor}`);
		expect(await reasonOf(other)).toEqual([400, 'bad_cursor']);
	});

	test.each(['limit=10', 'cursor=abc', 'sort=name', 'q=ada', 'fields=id'])(
		'the parameter %s is unknown',
		async (query) => {
			const answer = reasonOf(call('GET', `/v1/contacts?${query}`));
			expect(await answer).toEqual([400, 'unknown_parameter']);
		},
	);

	test('an unknown field is refused, in a new record and in a change', async () => {
		const created = call('POST', '/v1/contacts', { family_name: 'Ng', last_name: 'Ng' });
		expect(await reasonOf(created)).toEqual([422, 'bad_field']);
		const { body } = await call('GET', '/v1/companies?page_size=1');
		const changed = call('PATCH', `/v1/companies/${body.data[0].id}`, { name: 'Ng' });
		expect(await reasonOf(changed)).toEqual([422, 'bad_field']);
	});

	test.each([{ birthday: '2020-02-30' }, { vip: 'yes' }, { score: 1.5 }, { segment: 'lead' }])(
		'a value of the wrong type is refused: %j',
		async (fields) => {
			const answer = reasonOf(call('POST', '/v1/contacts', { family_name: 'Ng', ...fields }));
			expect(await answer).toEqual([422, 'bad_field']);
		},
	);

	test('a required field must be there and a unique one must be free', async () => {
		expect(await reasonOf(call('POST', '/v1/companies', {}))).toEqual([422, 'field_missing']);
		const firm = { legal_name: 'Ng', registration_number: 'REG-00001' };
		expect(await reasonOf(call('POST', '/v1/companies', firm))).toEqual([409, 'taken']);
	});

	test('a write without X-Idempotency-Key is refused', async () => {
		const answer = call('DELETE', '/v1/contacts/person-000001', undefined, {
			'x-idempotency-key': '',
			'idempotency-key': 'known elsewhere',
		});
		expect(await reasonOf(answer)).toEqual([400, 'key_missing']);
	});

	test('a write repeated, even at the same time, happens once and answers the same', async () => {
		const key = { 'x-idempotency-key': 'once' };
		const write = () => call('POST', '/v1/contacts', { family_name: 'Once' }, key);
		const [first, second] = await Promise.all([write(), write()]);
		const third = await write();
		expect([first.status, second.status, third.status]).toEqual([201, 201, 201]);
		expect([second.body.id, third.body.id]).toEqual([first.body.id, first.body.id]);
		expect(third.headers.get('x-idempotent-replay')).toBe('true');
		expect((await call('GET', '/v1/contacts?text=Once')).body.total).toBe(1);
	});

	test('another write under the same key is refused', async () => {
		const key = { 'x-idempotency-key': 'one' };
		await call('POST', '/v1/contacts', { family_name: 'One' }, key);
		const other = call('POST', '/v1/contacts', { family_name: 'Two' }, key);
		expect(await reasonOf(other)).toEqual([409, 'key_used']);
	});

	test('an upsert matches on the key it offers and on no other', async () => {
		const person = { family_name: 'Ng', mail: 'ng@people.example' };
		const created = await call('PUT', '/v1/contacts?key=mail', person);
		const updated = await call('PUT', '/v1/contacts?key=mail', { ...person, score: 7 });
		expect([created.status, updated.status]).toEqual([201, 200]);
		expect(updated.body).toMatchObject({ id: created.body.id, score: 7 });
		const unknown = call('PUT', '/v1/contacts?match_on=mail', person);
		expect(await reasonOf(unknown)).toEqual([400, 'unknown_parameter']);
	});

	test('a change leaves other fields unchanged, null empties, a deleted record no longer exists', async () => {
		const path = '/v1/contacts/person-000003';
		const before = await call('GET', path);
		const after = await call('PATCH', path, { score: null });
		const { changed_at: changedAt } = after.body;
		expect(after.body).toEqual({ ...before.body, score: null, changed_at: changedAt });
		expect((await call('DELETE', path)).status).toBe(204);
		expect(await reasonOf(call('GET', path))).toEqual([404, 'not_here']);
	});

	test('every response has the rate limit, also a refusal', async () => {
		const { status, headers } = await call('GET', '/v1/custom-fields', undefined, {
			authorization: 'Bearer wrong',
		});
		expect(status).toBe(401);
		expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
		expect(Number(headers.get('x-ratelimit-reset'))).toBeLessThanOrEqual(60);
	});

	test('it has no custom fields, and records its requests', async () => {
		const answer = reasonOf(call('GET', '/v1/custom-fields?resource=contacts'));
		expect(await answer).toEqual([404, 'no_such_address']);
		expect(service.requests.at(-1)).toMatchObject({
			method: 'GET',
			path: '/v1/custom-fields',
			query: { resource: 'contacts' },
			headers: { authorization: `Bearer ${service.apiKey}` },
		});
	});
});
