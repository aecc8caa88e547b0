import { alteredService, type Alteration } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import type { Setup } from '../support/node-runs.ts';
import { filterRows } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { until } from '../support/until.ts';

shortenWaits();

const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox);
const { importOf, exportOf } = fileRuns(service, useBinaryStore());

const contactsLike = async (email: string) =>
	await sandbox.list(`contacts?limit=500&sort=email&email[contains]=${encodeURIComponent(email)}`);

describe('an import that failed', () => {
	const broken: Alteration = {
		request: ({ method, url }) =>
			method === 'GET' && url.pathname.startsWith('/v1/jobs') ? { status: 403, body: '{"code":"forbidden"}' } : undefined,
	};
	const company = (domain: string) => `Kvist & ${domain}`;
	const rows = (domain: string, count: number) =>
		`last_name,email,Company\n${Array.from({ length: count }, (_, i) => `N,${i}@${domain},${i === 1 ? company(domain) : ''}\n`).join('')}`;

	test('continues, refuses a row that became valid since, and writes nothing twice', async () => {
		const domain = 'goeson.example';
		const again = { executionId: 'goes-on', context: {} };
		service.alter(broken);
		await expect(importOf(rows(domain, 4), {}, again)).rejects.toMatchObject({ httpCode: '403' });
		expect(await contactsLike(domain)).toHaveLength(3);
		await sandbox.create('companies', { name: company(domain) });
		service.alter({});
		// The execution's context as n8n stores it.
		again.context = JSON.parse(JSON.stringify(again.context)) as typeof again.context;
		const { json, failed } = await importOf(rows(domain, 4), {}, again);
		expect(json).toMatchObject({ rows: 4, created: 3, failed: 1, unknown: 0 });
		expect(rowsOf(failed)).toMatchObject([{ email: `1@${domain}`, import_error_code: 'overtaken' }]);
		expect(await contactsLike(domain)).toHaveLength(3);
		// A further attempt writes nothing.
		expect((await importOf(rows(domain, 4), {}, again)).json).toMatchObject({ created: 3, failed: 1 });
		expect((await importOf(failed)).json).toMatchObject({ created: 1 });
		expect((await contactsLike(domain)).map(({ email }) => email)).toEqual([0, 1, 2, 3].map((i) => `${i}@${domain}`));
		await expect(importOf(rows(domain, 2), {}, again)).rejects.toThrow('were already sent with different values');
	});

	test('does not write rows that were refused over those after them in a later job', async () => {
		const domain = 'order.example';
		const again = { executionId: 'later', context: {} };
		const refusedRows = `Old,a@${domain},${company(domain)},${'x'.repeat(900_000)}\n`.repeat(5);
		const csv = `last_name,email,Company,Filler\n${refusedRows}New,a@${domain},,\n`;
		const upsert = { importAs: 'upsert', matchOn: 'email' };
		service.alter(broken);
		await expect(importOf(csv, upsert, again)).rejects.toMatchObject({ httpCode: '403' });
		await sandbox.create('companies', { name: company(domain) });
		service.alter({});
		const { json, failed } = await importOf(csv, upsert, again);
		expect(json).toMatchObject({ rows: 6, done: 1, failed: 5 });
		expect(rowsOf(failed)[0]).toMatchObject({ last_name: 'Old', import_error_code: 'overtaken' });
		expect(await contactsLike(domain)).toMatchObject([{ last_name: 'New' }]);
	});

	test('offers a way out if other values were sent under the same value of Write Once Per', async () => {
		const domain = 'once.example';
		const once = { options: { writeOncePer: 'once.csv' } };
		expect((await importOf(rows(domain, 4), once)).json).toMatchObject({ created: 3, failed: 1 });
		await sandbox.create('companies', { name: company(domain) });
		await expect(importOf(rows(domain, 4), once)).rejects.toThrow(
			/were already sent with different values.*“failed”.*Create or Update with another value in Write Once Per/,
		);
		const { json } = await importOf(rows(domain, 4), { importAs: 'upsert', matchOn: 'email', options: { writeOncePer: 'again' } });
		expect(json).toMatchObject({ created: 1, updated: 3 });
		expect(await contactsLike(domain)).toHaveLength(4);
	});

	test('splits its file as before, whatever rows can be read by then', async () => {
		const domain = 'slices.example';
		const again = { executionId: 'slices', context: {} };
		// The part of a row that is sent is far shorter than the row: five rows make a job.
		const filler = 'x'.repeat(900_000);
		const line = (i: number) => `N,${i}@${domain},${i % 2 ? company(domain) : ''},${filler}\n`;
		const csv = `last_name,email,Company,Filler\n${Array.from({ length: 12 }, (_, i) => line(i)).join('')}`;
		service.alter(broken);
		await expect(importOf(csv, {}, again)).rejects.toMatchObject({ httpCode: '403' });
		await sandbox.create('companies', { name: company(domain) });
		service.alter({});
		const { json } = await importOf(csv, {}, again);
		expect(json).toMatchObject({ rows: 12, unknown: 0 });
		// Rows that the first attempt had not come to are written, too.
		expect(json.created).toBeGreaterThanOrEqual(6);
	});
});

describe('an export that failed', () => {
	const named = (last_name: string) => ({ filters: filterRows({ last_name }), options: { outputFields: ['last_name'] } });
	/** The first attempt fails when it asks for its job, which ends meanwhile. */
	async function failedExport(last_name: string, ends: 'canceled' | 'completed'): Promise<Partial<Setup>> {
		const again = { executionId: last_name, context: {} };
		let job = '';
		service.alter({
			async request({ method, url }) {
				if (method !== 'GET' || !url.pathname.startsWith('/v1/jobs')) return undefined;
				job = url.pathname;
				await until(async () => (await sandbox.read(job.slice('/v1/'.length))).status === 'completed');
				return { status: 403, body: '{"code":"forbidden"}' };
			},
		});
		await expect(exportOf(named(last_name), 'contact', again)).rejects.toMatchObject({ httpCode: '403' });
		service.alter({ answer: (text, { url }) => (url.pathname === job ? text.replace('"completed"', `"${ends}"`) : text) });
		return again;
	}

	test('is done again with other values, as of an expression with the time', async () => {
		const again = await failedExport('Retried', 'completed');
		await sandbox.create('contacts', { last_name: 'Other' });
		expect((await exportOf(named('Other'), 'contact', again)).json).toMatchObject({ records: 1 });
	});

	test.each(['canceled', 'completed'] as const)('has the records of now if its job is %s', async (ends) => {
		await sandbox.create('contacts', { last_name: ends });
		const again = await failedExport(ends, ends);
		await sandbox.create('contacts', { last_name: ends });
		const { json } = await exportOf(named(ends), 'contact', again);
		expect(json).toMatchObject({ records: 2 });
		// A further attempt passes both jobs.
		expect((await exportOf(named(ends), 'contact', again)).json.job).not.toBe(json.job);
	});

	test('finds its job again while that runs', async () => {
		const again = { executionId: 'running', context: {} };
		service.edit(({ path, body }) => {
			if (path.startsWith('/v1/jobs/')) body.status = 'processing';
		});
		const impatient = { ...named('Running'), options: { maxWait: 1 } };
		await expect(exportOf(impatient, 'contact', again)).rejects.toThrow('still running');
		const jobs: unknown[] = [];
		service.edit(({ path, body }) => {
			if (!/^\/v1\/jobs\/\w+$/.test(path)) return;
			jobs.push(body.id);
			if (jobs.length === 1) body.status = 'processing';
		});
		const { json } = await exportOf(impatient, 'contact', again);
		expect(new Set(jobs)).toEqual(new Set([json.job]));
		expect(service.passed.filter((request) => request.startsWith('POST'))).toHaveLength(2);
	});

	test('has its job if that completed after Maximum Wait, as the message promises, unless the results are wrong', async () => {
		await sandbox.create('contacts', { last_name: 'Slow' });
		const again = { executionId: 'slow', context: {} };
		let job = '';
		service.edit(({ path, body }) => {
			if (!/^\/v1\/jobs\/\w+$/.test(path)) return;
			body.status = 'processing';
			job = String(body.id);
		});
		const impatient = { ...named('Slow'), options: { maxWait: 1 } };
		await expect(exportOf(impatient, 'contact', again)).rejects.toThrow('it finds the job again');
		await until(async () => (await sandbox.read(`jobs/${job}`)).status === 'completed');
		service.alter({});
		service.alter({ request: ({ url }) => (url.pathname.endsWith('/results') ? { status: 403, body: '{"code":"forbidden"}' } : undefined) });
		await expect(exportOf(impatient, 'contact', again)).rejects.toMatchObject({ httpCode: '403' });
		service.alter({});
		expect((await exportOf(impatient, 'contact', again)).json.job).toBe(job);
		service.alter({ answer: (text, { url }) => (url.pathname.endsWith('/results') ? '' : text) });
		await expect(exportOf(impatient, 'contact', again)).rejects.toThrow('Run the export again');
		service.alter({});
		expect((await exportOf(impatient, 'contact', again)).json.job).not.toBe(job);
	});

	test('joined by Or has all its jobs or none: a record may have come to match the other filter between them', async () => {
		const { id } = await sandbox.create('contacts', { last_name: 'Pending' });
		const again = { executionId: 'joined', context: {} };
		const [first, second] = ['Open', 'Pending'].flatMap((last_name) => filterRows({ last_name }).rows);
		const either = { ...named(''), filters: { rows: [first, { ...second, join: 'or' }] }, options: { ...named('').options, maxWait: 1 } };
		const jobs = new Set<string>();
		const firstJobHas = (change: object) => service.edit(({ path, body }) => {
			if (!/^\/v1\/jobs\/\w+$/.test(path)) return;
			jobs.add(String(body.id));
			if (body.id === [...jobs][0]) Object.assign(body, change);
		});
		firstJobHas({ status: 'processing' });
		await expect(exportOf(either, 'contact', again)).rejects.toThrow('it finds the job again');
		for (const job of jobs) await until(async () => (await sandbox.read(`jobs/${job}`)).status === 'completed');
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { last_name: 'Open' });
		service.alter({});
		expect((await exportOf(either, 'contact', again)).json).toMatchObject({ records: 1 });
		firstJobHas({ total: undefined });
		await expect(exportOf(either, 'contact', again)).rejects.toThrow('Start it again');
		service.alter({});
		const { json } = await exportOf(either, 'contact', again);
		expect(json).toMatchObject({ records: 1 });
		expect([...jobs]).not.toContain(json.job);
	});
});
