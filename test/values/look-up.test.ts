import fc from 'fast-check';

import type { Connection } from '../../nodes/CrmPlatform/api/connection';
import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';
import { fieldNamed, type FieldKind } from '../../nodes/CrmPlatform/fields/field';
import { lookUp, type LookUpResult, type RecordList } from '../../nodes/CrmPlatform/lookUp/lookUp';
import { randomRuns } from '../support/random-runs.ts';
import { httpError } from '../http/http-error.ts';

interface Service {
	kind: FieldKind;
	records: Array<{ id: string; code: string }>;
	/** The status a value is refused with. */
	refuses(value: string): number | undefined;
}

/** A service with one filter, of one value or of a list, and the requests it was asked. */
function serviceOf({ kind, records, refuses }: Service): { collection: RecordList; requests: string[] } {
	const requests: string[] = [];
	const send = async ({ query = {} }: ApiRequest) => {
		const filterValue = String(query.code);
		requests.push(filterValue);
		const values = kind === 'list' ? filterValue.split(',') : [filterValue];
		const status = values.map(refuses).find((refusalCode) => refusalCode !== undefined);
		if (status !== undefined) throw httpError(String(status));
		const data = records.filter((record) => values.includes(record.code));
		return await Promise.resolve({ status: 200, headers: {}, body: { data, next_cursor: null } });
	};
	const list = { cursor: 'cursor', filters: [fieldNamed('code', { kind })] };
	const api = { send } as unknown as Connection;
	return { collection: { api, path: '/things', list, filters: list.filters, fields: [] }, requests };
}

const field = fieldNamed('code');
const resultText = (result: LookUpResult): string =>
	'found' in result ? result.found.id : 'several' in result ? result.several.map(({ id }) => id).join() : Object.keys(result).join();

const value = fc.constantFrom(...'abcdefgh', 'bad 1', 'bad 2', 'half \ud83d', 'x,y', ' a ', 'é', 'e\u0301');
const record = fc.constantFrom('a', 'b', 'c', 'x,y', 'é');
const kind = fc.constantFrom<FieldKind>('list', 'text');

const expected = (records: Service['records'], kind: FieldKind, text: string): string => {
	if (text.includes('half')) return 'refused';
	if (text.startsWith('bad')) return 'refused';
	if (kind === 'list' && text.includes(',')) return 'failed';
	const ids = records.filter((record) => record.code === text.trim().normalize('NFC')).map(({ id }) => id);
	return ids.length === 0 ? 'notFound' : ids.join();
};

test('each value has the result it has alone, whichever values are in the same request', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(value, { maxLength: 60 }), fc.array(record, { maxLength: 8 }), kind, async (values, codes, kind) => {
			const records = codes.map((codeValue, i) => ({ id: `r${i}`, code: codeValue }));
			const { collection } = serviceOf({ kind, records, refuses: (text) => (text.startsWith('bad') ? 422 : undefined) });
			const resultOf = await lookUp(collection, field, values);
			for (const text of values) expect([text, resultText(resultOf(text))]).toEqual([text, expected(records, kind, text)]);
		}),
		randomRuns(300, 23),
	);
});

test('a filter that refuses every value cannot be used, and is not tried for each of them', async () => {
	const values = Array.from({ length: 400 }, (_, i) => `v${i}`);
	for (const kind of ['list', 'text'] as const) {
		const { collection, requests } = serviceOf({ kind, records: [], refuses: () => 400 });
		const resultOf = await lookUp(collection, field, values);
		expect(new Set(values.map((text) => resultText(resultOf(text))))).toEqual(new Set(['failed']));
		expect(requests.length).toBeLessThan(80);
	}
});

test.each([
	['the first of many', Array.from({ length: 12 }, (_, i) => i)],
	['the first of each half', [0, 7, 13, 25]],
])('the other values are found although %s are refused', async (_which, bad) => {
	const values = Array.from({ length: 50 }, (_, i) => (bad.includes(i) ? `bad ${i}` : `v${i}`));
	const records = values.map((code, i) => ({ id: `r${i}`, code }));
	const { collection } = serviceOf({ kind: 'list', records, refuses: (text) => (text.startsWith('bad') ? 422 : undefined) });
	const resultOf = await lookUp(collection, field, values);
	for (const [i, text] of values.entries()) expect(resultText(resultOf(text))).toBe(bad.includes(i) ? 'refused' : `r${i}`);
});

test.each([401, 403, 404, 429, 500, 503])(
	'a response of %i says nothing about a single value, so the whole look-up fails',
	async (status) => {
		const { collection } = serviceOf({ kind: 'list', records: [], refuses: () => status });
		await expect(lookUp(collection, field, ['a', 'b'])).rejects.toMatchObject({ httpCode: String(status) });
	},
);

test('a service that does not filter is detected, and its list is not read for each value', async () => {
	const { collection, requests } = serviceOf({ kind: 'list', records: [], refuses: () => undefined });
	const { send } = collection.api;
	const others = { data: [{ id: 'x', code: 'other' }], next_cursor: 'more' };
	const ignoring = { ...collection.api, send: async (request: ApiRequest) => ({ ...(await send(request)), body: others }) };
	const results = lookUp({ ...collection, api: ignoring }, field, [...'abcdefgh']);
	await expect(results).rejects.toThrow('that do not match the filter code');
	expect(requests.length).toBeLessThan(10);
});

test.each(['list', 'text'] as const)('a value that was never requested does not count as not found (%s)', async (kind) => {
	const { collection } = serviceOf({
		kind,
		records: [{ id: 'r', code: 'last' }],
		refuses: (text) => (text.startsWith('bad') ? 422 : undefined),
	});
	const bad = Array.from({ length: 12 }, (_, i) => `bad ${i}`);
	const { send } = collection.api;
	// The one request that succeeds is answered after all refusals.
	const slow = async (request: ApiRequest) => {
		const answer = await send(request);
		for (let turn = 0; turn < 1000; turn++) await Promise.resolve();
		return answer;
	};
	// A request has at most 50 values, so the good ones are requested apart from the bad ones.
	const size = kind === 'list' ? 50 : 1;
	const good = Array.from({ length: size }, (_, i) => `good ${i}`);
	const values = [...good, ...bad, ...Array.from({ length: 200 }, (_, i) => `other ${i}`), 'last'];
	const resultOf = await lookUp({ ...collection, api: { ...collection.api, send: slow } }, field, values);
	expect(resultText(resultOf('last'))).toBe('r');
	expect(resultText(resultOf('other 199'))).toBe('notFound');
	expect(resultText(resultOf('bad 0'))).toBe('refused');
});
