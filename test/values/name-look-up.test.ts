import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../../nodes/CrmPlatform/api/connection';
import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';
import { lookUpNames } from '../../nodes/CrmPlatform/lookUp/byName';
import { fieldNamed } from '../../nodes/CrmPlatform/fields/field.ts';
import { httpError } from '../http/http-error.ts';


/** A service with more records than are read at once, and no search, that filters by some fields. */
function serviceOf(records: IDataObject[], kinds: Record<string, 'list' | 'text'>, { ignores = false, othersCount = 501 } = {}) {
	const requests: string[] = [];
	const others = Array.from({ length: othersCount }, (_, i) => ({ id: records[0]?.id === 1 ? 1000 + i : `other ${i}`, name: `other ${i}` }));
	const send = async ({ query = {} }: ApiRequest) => {
		const [[name, filterValue] = []] = Object.entries(query).filter(([parameter]) => Object.hasOwn(kinds, parameter));
		if (name !== undefined) requests.push(`${name}=${String(filterValue)}`);
		const values = [filterValue ?? []].flat().map(String);
		if (name === 'email' && values.some((value) => !value.includes('@'))) throw httpError('422');
		const isFiltered = name !== undefined && !ignores;
		const isFound = (record: IDataObject) => values.some((value) => value.toLowerCase() === String(record[name!]).toLowerCase());
		const data = isFiltered ? records.filter(isFound) : [...others, ...records];
		const next_cursor = isFiltered || othersCount < 500 ? null : `${requests.length}`;
		return await Promise.resolve({ status: 200, headers: {}, body: { data, next_cursor } });
	};
	const list = { cursor: 'cursor', filters: Object.entries(kinds).map(([name, kind]) => fieldNamed(name, { kind })) };
	const description = { list, fields: [] };
	const api = {
		send, describe: async () => await Promise.resolve(description), requireDescription: () => undefined,
	} as unknown as Connection;
	return { api, requests };
}

test('names are looked up together if a filter accepts several', async () => {
	const { api, requests } = serviceOf([{ id: 'a', name: 'Acme 1' }], { name: 'list', external_id: 'list' });
	const names = Array.from({ length: 40 }, (_, i) => `Acme ${i}`);
	const results = await lookUpNames(api, '/companies', names);
	expect(requests).toHaveLength(2);
	expect(results.get('Acme 1')).toEqual({ found: 'a' });
	expect(results.get('Acme 2')).toEqual({ notFound: true });
});

test('names that are not email addresses do not prevent finding an address', async () => {
	const { api } = serviceOf([{ id: 'a', email: 'ada@x.example' }], { name: 'text', email: 'text' });
	const names = [...Array.from({ length: 30 }, (_, i) => `Nobody ${i}`), 'ada@x.example'];
	expect((await lookUpNames(api, '/users', names)).get('ada@x.example')).toEqual({ found: 'a' });
});

test.each([0, 501])('domains and emails may differ in case, but no accents, IDs in neither, names both: among %d', async (othersCount) => {
	const records = [
		{ id: 'a', domain: 'Müller.example', external_id: 'aBc' }, { id: 'b', external_id: 'ABC' }, { id: 'c', external_id: 'dEf' },
		{ id: 'd', email: 'jose@x.example', name: 'José' },
		{ id: 'e', name: 'Jürgen.example' }, { id: 'f', name: 'St. Pölten' },
	];
	const { api } = serviceOf(records, { name: 'list', domain: 'list', email: 'list', external_id: 'list' }, { othersCount });
	const ids = {
		'müller.example': 'a', 'muller.example': '', 'JOSE@x.example': 'd', 'josé@x.example': '',
		'external_id:ABC': 'b', 'external_id:abc': '', 'DEF': '', 'dEf': 'c',
		'jürgen.example': 'e', 'jurgen.example': '', 'St. Polten': othersCount === 0 ? 'f' : '',
	};
	const found = await lookUpNames(api, '/companies', Object.keys(ids));
	const expected = Object.entries(ids).map(([name, id]) => [name, id === '' ? { notFound: true } : { found: id }]);
	expect([...found]).toEqual(expected);
});

test('a name is searched as people read it, without invisible characters and spaces of other kinds', async () => {
	const searched: unknown[] = [];
	const send = async ({ query = {} }: ApiRequest) => {
		if (query.q !== undefined) searched.push(query.q);
		const others = Array.from({ length: 501 }, (_, i) => ({ id: `other ${i}`, name: `other ${i}` }));
		const data = query.q === 'Ada King' ? [{ id: 'a', name: 'Ada King' }] : others;
		return await Promise.resolve({ status: 200, headers: {}, body: { data, next_cursor: query.q === undefined ? 'next' : null } });
	};
	const list = { cursor: 'cursor', search: 'q', filters: [] };
	const describe = async () => await Promise.resolve({ list, fields: [] });
	const api = { send, describe, requireDescription: () => undefined } as unknown as Connection;
	const name = 'Ada\u00a0\u200bKing ';
	expect((await lookUpNames(api, '/users', [name])).get(name)).toEqual({ found: 'a' });
	expect(searched).toEqual(['Ada King']);
});

/** A service whose search finds more records than are read at once, with a filter by the exact name. */
function crowdedService(filters: string[], begun = [{ id: 'a', name: 'ACME' }]): Connection {
	const send = async ({ query = {} }: ApiRequest) => {
		const others = Array.from({ length: 501 }, (_, i) => ({ id: `other ${i}`, name: `Acme ${i}` }));
		const isSearched = query.name === undefined && query['name[starts_with]'] === undefined;
		const data = isSearched ? others : query.name === undefined ? begun : [];
		return await Promise.resolve({ status: 200, headers: {}, body: { data, next_cursor: isSearched ? 'next' : null } });
	};
	const list = { cursor: 'cursor', search: 'q', filters: filters.map((name) => fieldNamed(name, { kind: 'text' })) };
	const describe = async () => await Promise.resolve({ list, fields: [fieldNamed('name', { kind: 'text' })] });
	return { send, describe, requireDescription: () => undefined } as unknown as Connection;
}

test('a name in more records than are read at once is found among those that begin with it', async () => {
	const found = await lookUpNames(crowdedService(['name', 'name[starts_with]']), '/companies', ['Acme']);
	expect(found.get('Acme')).toEqual({ found: 'a' });
});

test.each([
	['the list cannot be filtered by their beginning', ['name']],
	['none begins with it as written', ['name', 'name[starts_with]']],
])('a name in more records than are read at once is not taken for a new one: %s', async (_, filters) => {
	const found = await lookUpNames(crowdedService(filters, []), '/companies', ['Acme']);
	expect(found.get('Acme')).toEqual({ failed: new Error('more than 500 records contain it') });
});

test.each([
	[500, 'Acme 500', { notFound: true }],
	[700, 'Acme 699', { failed: {} }],
])('a name is taken for a new one only if the one page has no more records than requested: %i', async (length, name, result) => {
	const data = Array.from({ length }, (_, i) => ({ id: `${i}`, name: `Acme ${i}` }));
	const send = async () => await Promise.resolve({ status: 200, headers: {}, body: { data, next_cursor: null } });
	const describe = async () => await Promise.resolve({ list: { cursor: 'cursor', filters: [] }, fields: [] });
	const api = { send, describe, requireDescription: () => undefined } as unknown as Connection;
	expect((await lookUpNames(api, '/companies', [name])).get(name)).toMatchObject(result);
});
