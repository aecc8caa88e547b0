import { encodedPath, queryString, serviceAddress } from '../../nodes/CrmPlatform/api/http/path';

describe('a path', () => {
	test('encodes characters that would lead to another endpoint', () => {
		expect(encodedPath`/v1/contacts/${'a/b?c#d e'}`).toBe('/v1/contacts/a%2Fb%3Fc%23d%20e');
	});

	test.each(['', '.', '..'])('refuses %p as an id', (id) => {
		expect(() => encodedPath`/v1/contacts/${id}`).toThrow(/ID is empty|not an ID/);
	});
});

describe('the base URL', () => {
	test.each([
		'https://api.example.com',
		'https://api.example.com/',
		'https://api.example.com/v1',
		'https://api.example.com/v1/',
		'  https://api.example.com/V1//  ',
		'https://api.example.com?x=1#y',
	])('%p means the CRM at its host', (typed) => {
		expect(serviceAddress(typed)).toBe('https://api.example.com');
	});

	test.each(['', 'api.example.com', 'ftp://api.example.com', 'https://', 'C:\\api'])(
		'%p is refused in the user’s words',
		(typed) => {
			expect(() => serviceAddress(typed)).toThrow(/is not a URL/);
		},
	);
});

test('a query joins lists, leaves out what is undefined and encodes the rest', () => {
	const query = { 'created_at[gte]': '2026-01-01', ids: ['a', 'b'], q: 'x&y', none: undefined };
	expect(queryString(query)).toBe('?created_at%5Bgte%5D=2026-01-01&ids=a,b&q=x%26y');
});
