import { alteredService, type Alteration } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';

shortenWaits();

const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox);
const { importOf } = fileRuns(service, useBinaryStore());

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

	test('continues after the company that a row needs was created, and writes nothing twice', async () => {
		const domain = 'goeson.example';
		const again = { executionId: 'goes-on', context: {} };
		service.alter(broken);
		await expect(importOf(rows(domain, 4), {}, again)).rejects.toMatchObject({ httpCode: '403' });
		expect(await contactsLike(domain)).toHaveLength(3);
		await sandbox.create('companies', { name: company(domain) });
		service.alter({});
		// The execution's context as n8n stores it.
		again.context = JSON.parse(JSON.stringify(again.context)) as typeof again.context;
		const { json } = await importOf(rows(domain, 4), {}, again);
		expect(json).toMatchObject({ rows: 4, created: 4, failed: 0, unknown: 0 });
		expect((await contactsLike(domain)).map(({ email }) => email)).toEqual([0, 1, 2, 3].map((i) => `${i}@${domain}`));
		expect(json.jobs).toHaveLength(2);
		// A further attempt writes nothing.
		expect((await importOf(rows(domain, 4), {}, again)).json).toMatchObject({ created: 4, failed: 0 });
		expect(await contactsLike(domain)).toHaveLength(4);
		await expect(importOf(rows(domain, 2), {}, again)).rejects.toThrow('were already sent with different values');
	});

	test('continues if the response to the start of its job was lost', async () => {
		const domain = 'lost.example';
		const again = { executionId: 'lost', context: {} };
		service.alter({ answer: (text, { method, url }) => (method === 'POST' && url.pathname === '/v1/jobs' ? undefined : text) });
		await expect(importOf(rows(domain, 4), {}, again)).rejects.toThrow();
		await sandbox.create('companies', { name: company(domain) });
		service.alter({});
		expect((await importOf(rows(domain, 4), {}, again)).json).toMatchObject({ rows: 4, created: 4 });
		expect(await contactsLike(domain)).toHaveLength(4);
	});

	test('does not write a row that was refused over the rows after it', async () => {
		const domain = 'order.example';
		const again = { executionId: 'order', context: {} };
		const csv = `last_name,email,Company\nOld,a@${domain},${company(domain)}\nNew,a@${domain},\n`;
		const upsert = { importAs: 'upsert', matchOn: 'email' };
		service.alter(broken);
		await expect(importOf(csv, upsert, again)).rejects.toMatchObject({ httpCode: '403' });
		await sandbox.create('companies', { name: company(domain) });
		service.alter({});
		const { json, failed } = await importOf(csv, upsert, again);
		expect(json).toMatchObject({ rows: 2, done: 1, failed: 1 });
		expect(rowsOf(failed)).toMatchObject([{ last_name: 'Old', import_error_code: 'overtaken' }]);
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
		// The part of a row that is sent is far shorter than the row.
		const filler = 'x'.repeat(900);
		const line = (i: number) => `N,${i}@${domain},${i % 2 ? company(domain) : ''},${filler}\n`;
		const csv = `last_name,email,Company,Filler\n${Array.from({ length: 6_000 }, (_, i) => line(i)).join('')}`;
		service.alter(broken);
		await expect(importOf(csv, {}, again)).rejects.toMatchObject({ httpCode: '403' });
		await sandbox.create('companies', { name: company(domain) });
		service.alter({});
		const { json } = await importOf(csv, {}, again);
		expect(json).toMatchObject({ rows: 6_000, created: 6_000, failed: 0 });
	});

	test('fails with the first of its jobs that fails, and does not wait for the others', async () => {
		let posts = 0;
		service.alter({
			request({ method, url }) {
				if (method === 'POST' && url.pathname === '/v1/jobs') {
					posts += 1;
					return posts === 1 ? { status: 202, body: '{"id":"job_x","status":"processing"}' } : { status: 403, body: '{"code":"forbidden"}' };
				}
				return url.pathname === '/v1/jobs/job_x' ? { status: 200, body: '{"id":"job_x","status":"processing"}' } : undefined;
			},
		});
		await expect(importOf(`last_name,email\n${'N,\n'.repeat(12_000)}`)).rejects.toMatchObject({ httpCode: '403' });
	});
});
