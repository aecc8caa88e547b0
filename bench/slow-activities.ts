import { demoMembers } from '../sandbox/seed/demo-members.ts';
import type { SlowActivity } from './other-client.ts';
import { runJob } from './run-job.ts';
import { person } from './sandbox-server.ts';
import { uncachedFilter } from './searches.ts';
import type { Server } from './server-process.ts';

const linesOfImport = 2000;

export const listOfLargeMessages = '/v1/messages?channel=other&limit=500';

export const slowActivities: Record<string, SlowActivity> = {
	// It is first, because it fills the event log for the others.
	'imports records': async (server) => {
		const lines = Array.from({ length: linesOfImport }, () => JSON.stringify(person())).join('\n');
		await runJob(server, 'resource=contacts&operation=create', { lines });
	},
	'filters by a custom field that is new': async ({ call }, round) => {
		const field = { resource: 'contacts', key: `bench_${round + 1}`, label: 'x', type: 'text' };
		const { id } = JSON.parse(await call('POST', '/v1/custom-fields', JSON.stringify(field))) as { id: string };
		await call('GET', `/v1/contacts?custom_fields.${field.key}=x`);
		await call('DELETE', `/v1/custom-fields/${id}`);
	},
	'exports by a filter without an index': (server, round) =>
		runJob(server, `resource=contacts&operation=export&job_title[contains]=zzz&${uncachedFilter(round)}`),
	'searches for parts of texts, twice at once': ({ call }, round) =>
		Promise.all(
			['a', 'b'].map((part) => call('GET', `/v1/contacts?job_title[contains]=zz${part}&${uncachedFilter(round)}`)),
		),
	'opens records in the console': async (server) => {
		const page = await server.call('GET', '/v1/contacts?limit=5');
		const headers = { Cookie: await signedIn(server) };
		for (const { id } of (JSON.parse(page) as { data: Array<{ id: string }> }).data) {
			await server.call('GET', `/records/contacts/${id}`, undefined, headers);
		}
	},
	'looks through the log in the console': async (server) =>
		server.call('GET', '/events?type=deal.lost', undefined, { Cookie: await signedIn(server) }),
	'sends a form with thousands of rows': sendLargeForm,
	'reads lists of large messages': ({ call }) => call('GET', listOfLargeMessages),
	'polls events by type': ({ call }) => call('GET', '/v1/events?type=deal.lost'),
};

/** A form with as many rows as allowed, which is refused because of them. */
async function sendLargeForm(server: Server): Promise<void> {
	const headers = { Cookie: await signedIn(server) };
	const page = await server.call('GET', '/records/contacts/new', undefined, headers);
	const hidden = (name: string) => `${name}=${encodeURIComponent(new RegExp(`name="${name}" value="([^"]*)"`).exec(page)![1]!)}`;
	const rows = Array.from({ length: 1900 }, (_, i) => `emails.${i}.value=x`);
	const body = [hidden('csrf'), hidden('form'), ...rows].join('&');
	const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
	const response = await fetch(`${server.url}/records/contacts`, { method: 'POST', headers: { ...headers, ...type }, body });
	const html = await response.text();
	if (!html.includes('must not be longer')) throw new Error(`The form was answered with ${response.status}: ${html}`);
}

let cookie: string | undefined;

async function signedIn({ url }: Server): Promise<string> {
	if (cookie !== undefined) return cookie;
	const { email, password } = demoMembers[0]!;
	const body = new URLSearchParams({ email, password });
	const { headers } = await fetch(`${url}/sign-in`, { method: 'POST', body, redirect: 'manual' });
	return (cookie = headers.getSetCookie()[0]!.split(';')[0]!);
}
