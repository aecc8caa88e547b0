import type { IDataObject } from 'n8n-workflow';

import { alteredService } from '../support/altered-service.ts';
import { useSandbox } from '../support/sandbox.ts';
import { teamsIn } from '../support/sync-node.ts';

const sandbox = useSandbox();
const service = alteredService(sandbox);
const { add, counts, newTeam, run } = teamsIn(service);

// Each test has an account of its own to the node, as descriptions are kept for minutes.
let accounts = 0;
const asNewAccount = () => ({
	credential: { ...service.credential, baseUrl: `${service.credential.baseUrl}/account-${++accounts}` },
});
const withoutAccount = (url: URL) => void (url.pathname = url.pathname.replace(/^\/account-\d+/, ''));

describe('the version of a written record is the one that the CRM responds with', () => {
	const withoutData = (text: string): string => {
		const { results, id, ...rest } = JSON.parse(text) as IDataObject & { results?: IDataObject[] };
		return JSON.stringify(results ? { ...rest, results: results.map(({ data: _, ...result }) => result) } : { id });
	};
	test.each([1, 3])('is missing if the response has none: the one that was read has the old values (%d records)', async (count) => {
		const { records, filters } = newTeam(count);
		const stored = await add(records);
		service.alter({ answer: (text, { method }) => (method === 'GET' ? text : withoutData(text)) });
		const items = records.map((record, i) => ({ ...record, last_name: `New ${i}`, seen: stored[i]!.version }));
		const { updated } = await run(items, { filters, versionField: 'seen' });
		expect(updated).toHaveLength(count);
		for (const { json } of updated) {
			expect(json.last_name).toMatch(/^New/);
			expect(json).not.toHaveProperty('version');
		}
	});
});

test('an error counts the records that were written, and not those that were left', async () => {
	const { records, filters } = newTeam(4);
	await add(records.slice(0, 3));
	service.alter({
		request({ method }) {
			if (method === 'POST') return { status: 422, body: JSON.stringify({ code: 'validation_failed', detail: 'no' }) };
		},
	});
	const items = records.map((record, i) => (i === 1 ? { ...record, last_name: 'Changed' } : record));
	const failure = await run(items, { filters }).catch((error: Error & { description?: string }) => error);
	expect(JSON.stringify(failure)).toContain('1 records were written, 1 failed and 0 were not tried. The next run continues with the rest.');
});

test.each([
	['shows in a preview where the list has a filter for it', 'email', [0, 0, 0, 0, 1]],
	['is the CRM’s refusal where it has none', 'address_of_mail', [1, 0, 0, 0, 0]],
])('a unique value of a record outside the scope %s, and is a conflict in the run', async (_, filter, previewed) => {
	const outside = newTeam(1);
	await add(outside.records);
	const { records, filters } = newTeam(1, { email: outside.records[0]!.email });
	service.alter({
		request: ({ url }) => withoutAccount(url),
		answer: (text, { url }) => (url.pathname === '/openapi.json' ? text.replaceAll('"name":"email"', `"name":"${filter}"`) : text),
	});
	const account = asNewAccount();
	expect(counts(await run(records, { filters, preview: true }, account))).toEqual(previewed);
	expect(counts(await run(records, { filters }, account))).toEqual([0, 0, 0, 0, 1]);
});
