import type { IDataObject } from 'n8n-workflow';

import { alteredService, type Alteration } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { run } from '../support/node-runs.ts';
import { filterRows } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const store = useBinaryStore();
const service = alteredService(sandbox);
const { importOf, exportOf, setupOf } = fileRuns(service, store);

const contactsLike = async (email: string) =>
	await sandbox.list(`contacts?limit=500&sort=email&email[contains]=${encodeURIComponent(email)}`);
const fileOf = (count: number, domain: string) =>
	`last_name,email\n${Array.from({ length: count }, (_, i) => `N,${String(i).padStart(5, '0')}@${domain}\n`).join('')}`;

/** At most this many results in one answer, whatever the limit of the request. */
const shortParts = (maxResults: number): Alteration => ({
	request({ url }) {
		if (!url.pathname.endsWith('/results')) return;
		url.searchParams.set('limit', String(Math.min(maxResults, Number(url.searchParams.get('limit') ?? maxResults))));
	},
});
/** Only the first results of a job, and then none. */
const lostResults = (resultCount: number): Alteration => ({
	answer(text, { url }) {
		if (!url.pathname.endsWith('/results')) return text;
		const from = Number(url.searchParams.get('offset') ?? 0);
		return text.split('\n').slice(0, Math.max(0, resultCount - from)).join('\n');
	},
});
/** Another result of one line. */
const alteredLine = (line: number, change: (result: IDataObject) => IDataObject): Alteration => ({
	answer(text, { url }) {
		if (!url.pathname.endsWith('/results')) return text;
		const lines = text.trim().split('\n').map((resultLine) => JSON.parse(resultLine) as IDataObject);
		return lines.map((result, i) => `${JSON.stringify(i === line ? change(result) : result)}\n`).join('');
	},
});

describe('a service that returns fewer results than requested', () => {
	test('is asked for the missing results by an import', async () => {
		service.alter(shortParts(10));
		const { json, failed } = await importOf(fileOf(26, 'short.example'));
		expect(json).toMatchObject({ rows: 26, created: 26, failed: 0, unknown: 0 });
		expect(rowsOf(failed)).toEqual([]);
	});

	test('is asked for the missing results by an export', async () => {
		await importOf(fileOf(26, 'shortly.example'));
		service.alter(shortParts(10));
		const filters = filterRows({ 'email[contains]': 'shortly.example' });
		const { json, text } = await exportOf({ filters, options: { outputFields: ['email'] } });
		expect(json).toMatchObject({ records: 26 });
		expect(new Set(rowsOf(text).map(({ Email }) => Email)).size).toBe(26);
	});

	test('fails an export if it then returns no more', async () => {
		await importOf(fileOf(15, 'few.example'));
		service.alter(lostResults(7));
		await expect(exportOf({ filters: filterRows({ 'email[contains]': 'few.example' }) })).rejects.toThrow('has only 7 of its 15 records');
	});

	test('fails an export if it returns the same again, and is not read forever', async () => {
		await importOf(fileOf(15, 'again.example'));
		service.alter({
			request({ url }) {
				if (url.pathname.endsWith('/results')) url.search = '?limit=10';
			},
		});
		const filters = filterRows({ 'email[contains]': 'again.example' });
		await expect(exportOf({ filters })).rejects.toThrow(/the same results again and again.* rule 20 /);
	});
});

describe('a row without a readable result', () => {
	test('is reported as unknown, not as refused: it was written', async () => {
		service.alter(lostResults(2));
		const { items, hints } = await run(await setupOf(fileOf(5, 'unknown.example')));
		expect(items[0]!.json).toMatchObject({ rows: 5, done: 2, failed: 0, unknown: 3 });
		const { failed, unknown } = items[0]!.binary!;
		expect(failed!.fileName).toBe('contacts.failed.csv');
		expect(rowsOf(await store.text(failed))).toEqual([]);
		expect(rowsOf(await store.text(unknown)).map((row) => [row.email, row.import_row, row.import_error_code])).toEqual(
			[2, 3, 4].map((i) => [`0000${i}@unknown.example`, String(i + 2), 'unknown']),
		);
		expect(hints).toEqual([expect.stringMatching(/For 3 of 5 rows.* “unknown” .* before you import/)]);
		expect(await contactsLike('unknown.example')).toHaveLength(5);
	});

	test('with a success that has an error in it is unknown', async () => {
		service.alter(alteredLine(1, (result) => ({ ...result, error: { code: 'refused' } })));
		const { json } = await importOf(fileOf(3, 'contradiction.example'));
		expect(json).toMatchObject({ done: 2, failed: 0, unknown: 1 });
	});
});

describe('results', () => {
	/** A job in this state, with these results. */
	const ofJob = (job: IDataObject, results: IDataObject[]): Alteration => ({
		request({ url, method }) {
			if (url.pathname.endsWith('/results')) {
				const from = Number(url.searchParams.get('offset'));
				return { status: 200, type: 'application/x-ndjson', body: results.slice(from).map((result) => `${JSON.stringify(result)}\n`).join('') };
			}
			if (!url.pathname.startsWith('/v1/jobs')) return;
			return { status: method === 'POST' ? 202 : 200, body: JSON.stringify({ id: 'job_x', ...job }) };
		},
	});
	const completed = { status: 'completed' };
	const failed = { status: 'failed', error: 'Out of disk', processed: 2 };
	const at = (index: number, status = 201) => ({ index, status, ...(status < 300 && { id: `new${index}` }) });

	test.each<[string, IDataObject, IDataObject[], IDataObject]>([
		['count from 1', completed, [at(1), at(2, 422)], { done: 0, failed: 0, unknown: 2 }],
		['count from 1, of a job that ended early', failed, [at(1), at(2, 422)], { done: 0, failed: 0, unknown: 5 }],
		['name no row, of a job that ended early', failed, [{ status: 201 }, { status: 422 }], { done: 0, failed: 0, unknown: 5 }],
		['contradict each other, of a job that says it did nothing', { ...failed, processed: 0 }, [at(0), at(0, 422)], { done: 0, unknown: 5 }],
	])('that %s cannot belong to the rows, and leave them unknown', async (_, job, results, counts) => {
		service.alter(ofJob(job, results));
		const { json } = await importOf(fileOf(job === completed ? 2 : 5, 'own.example'));
		expect(json).toMatchObject(counts);
	});

	test.each([408, 500, 503, 504])('with status %s report that a row may have been written', async (status) => {
		service.alter(ofJob(completed, [at(0), at(1, status), at(2, 422)]));
		const { json } = await importOf(fileOf(3, 'own.example'));
		expect(json).toMatchObject({ done: 1, failed: 1, unknown: 1 });
	});

	test.each([
		['says how far it came, its other rows were not done', { processed: 2 }, { done: 2, failed: 3, unknown: 0 }],
		['is canceled and says it, too, nor were they', { status: 'canceled', processed: 2 }, { done: 2, failed: 3, unknown: 0 }],
		['says that it came further, they are unknown', { processed: 4 }, { done: 2, failed: 0, unknown: 3 }],
		['does not say how far it came, they are unknown', { processed: null }, { done: 2, failed: 0, unknown: 3 }],
		['counted fewer rows than have results, they are unknown', { processed: 1 }, { done: 2, failed: 0, unknown: 3 }],
	])('if a job that ends early %s', async (_, change, counts) => {
		service.alter(ofJob({ ...failed, ...change }, [at(0), at(1)]));
		const { json, failed: refused } = await importOf(fileOf(5, 'own.example'), { options: { maxWait: 5 } });
		expect(json).toMatchObject(counts);
		expect(rowsOf(refused).map((row) => row.import_error_code)).toEqual(Array.from({ length: counts.failed }, () => 'not_done'));
	});

	test('of a job that ended early with a result of a later row leave the rows before it unknown', async () => {
		service.alter(ofJob(failed, [at(0), at(3)]));
		const { json } = await importOf(fileOf(5, 'own.example'));
		expect(json).toMatchObject({ done: 2, failed: 0, unknown: 3 });
	});
});

describe('an import by Match On', () => {
	const csv = 'last_name,email\nA,a@matched.example\nB,\nC," "\n';
	const upsert = { importAs: 'upsert', matchOn: 'email', options: { emptyCells: 'clear' } };

	test('shows in a preview which fields empty columns clear', async () => {
		const { json } = await importOf('email,Phone,Empty\na@matched.example,,\n', { ...upsert, preview: true });
		const [email, phone] = [{ column: 'email', filled: 1 }, { column: 'Phone', field: 'phone', filled: 0 }];
		expect(json.columns).toMatchObject([email, phone, { column: '1 empty column', field: null }]);
	});

	test('does not send a row without a value to match on', async () => {
		const sentRows: string[] = [];
		service.alter({ request: ({ method, text }) => void (method === 'POST' && sentRows.push(...text.trim().split('\n'))) });
		const { json, failed } = await importOf(csv, upsert);
		expect(json).toMatchObject({ created: 1, failed: 2 });
		expect(sentRows).toHaveLength(1);
		expect(rowsOf(failed)).toMatchObject([
			{
				last_name: 'B',
				import_error_field: 'email',
				import_error_code: 'required',
				import_error_message: expect.stringContaining('to match on'),
			},
			{ last_name: 'C', import_error_field: 'email' },
		]);
	});
});

test('Maximum Wait also counts the time that responses take', async () => {
	const { systemClock } = await import('../../nodes/CrmPlatform/base/clock');
	let passed = 0;
	jest.spyOn(systemClock, 'now').mockImplementation(() => Date.now() + passed);
	let pollCount = 0;
	service.alter({
		request({ method, url }) {
			if (!url.pathname.startsWith('/v1/jobs')) return;
			if (method === 'GET') {
				pollCount += 1;
				// Each answer takes a minute.
				passed += 60_000;
			}
			return { status: 200, body: '{"id":"job_x","status":"processing"}' };
		},
	});
	await expect(importOf(fileOf(1, 'slow.example'), { options: { maxWait: 150 } })).rejects.toThrow('did not finish within 150 s');
	expect(pollCount).toBe(3);
	jest.restoreAllMocks();
});

test('a job whose id is a number is waited for', async () => {
	service.alter({
		request({ url }) {
			const id = /^\/v1\/jobs\/(\d+)$/.exec(url.pathname)?.[1];
			if (url.pathname.endsWith('/results'))
				return { status: 200, type: 'application/x-ndjson', body: '{"index":0,"status":201,"id":9007199254740993}\n' };
			if (id === '9007199254740993') return { status: 200, body: '{"id":9007199254740993,"status":"completed"}' };
			return url.pathname === '/v1/jobs' ? { status: 202, body: '{"id":9007199254740993,"status":"queued"}' } : undefined;
		},
	});
	const { json, done } = await importOf(fileOf(1, 'number.example'));
	expect(json).toMatchObject({ created: 1, jobs: ['9007199254740993'] });
	expect(rowsOf(done)).toMatchObject([{ import_id: '9007199254740993' }]);
});
