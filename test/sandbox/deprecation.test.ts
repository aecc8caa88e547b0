import { inProcess } from './in-process.ts';

const sunset = Date.parse('2031-01-01T00:00:00.000Z');
const at = (now: number) => inProcess({ contacts: 3, now: () => now });

test('GET /contacts answers as GET /v1/contacts', async () => {
	const { get } = at(sunset - 1);
	const [old, current] = [await get('/contacts?limit=2'), await get('/v1/contacts?limit=2')];
	expect(old.status).toBe(200);
	expect(old.body).toEqual(current.body);
});

test('what is deprecated says since when, until when, and what to use instead', async () => {
	const { get } = at(sunset - 1);
	for (const path of ['/contacts', '/contacts?limit=0']) {
		const { headers } = await get(path);
		expect(headers.get('Deprecation')).toBe('@1767225600');
		expect(headers.get('Sunset')).toBe('Wed, 01 Jan 2031 00:00:00 GMT');
		expect(headers.get('Link')).toContain('</v1/contacts>; rel="successor-version"');
	}
});

test('what is not deprecated says nothing of it', async () => {
	const { headers } = await at(sunset).get('/v1/contacts');
	for (const name of ['Deprecation', 'Sunset', 'Link']) expect(headers.has(name)).toBe(false);
});

test('from its sunset on it is refused with version_sunset, and the path to use', async () => {
	const { status, headers, body } = await at(sunset).get('/contacts');
	expect(status).toBe(410);
	expect(body).toMatchObject({ code: 'version_sunset', detail: expect.stringContaining('/v1/contacts') });
	expect(headers.get('Sunset')).toBe('Wed, 01 Jan 2031 00:00:00 GMT');
});

test('it was announced at least 24 months ahead', async () => {
	const { headers } = await at(sunset - 1).get('/contacts');
	const since = new Date(Number(headers.get('Deprecation')!.slice(1)) * 1000);
	since.setUTCMonth(since.getUTCMonth() + 24);
	expect(Date.parse(headers.get('Sunset')!)).toBeGreaterThanOrEqual(since.getTime());
});
