import { setTimeout as sleep } from 'node:timers/promises';
import type { N8nClient } from '../../../demo/n8n-client.ts';
import { until } from '../../support/until.ts';
import type { EditedSystem, Person } from './edited-contacts.ts';

const maxDownMs = 180_000;

type Row = { email: string; name: string | null; crm_version: number | null; updatedAt: string };

/** A Data Table of people, edited as in n8n's own view of tables. While n8n is down, edits wait. */
export class EditedTable implements EditedSystem {
	private place: string | undefined;
	private repeats = 0;

	private readonly n8n: N8nClient;
	private readonly table: string;
	private readonly domain: string;

	constructor(n8n: N8nClient, table: string, domain: string) {
		this.n8n = n8n;
		this.table = table;
		this.domain = domain;
	}

	async people(): Promise<Person[]> {
		return (await this.rows()).map(({ email, name, crm_version: version }) => ({ email, name, version }));
	}

	/** Everything that is stored of them, to see whether anything was written. */
	async rows(): Promise<Row[]> {
		const all: Row[] = [];
		for (;;) {
			const { data } = (await this.call('GET', `/rows?take=250&skip=${all.length}`)) as { data: Row[] };
			all.push(...data);
			if (data.length < 250) return all.filter(({ email }) => email.endsWith(this.domain));
		}
	}

	async add(email: string, name: string): Promise<void> {
		// An insert would add the person twice if n8n is killed before it responds.
		const filters = [{ columnName: 'email', condition: 'eq', value: email }];
		await this.call('POST', '/upsert', { filter: { type: 'and', filters }, data: { email, name } });
	}

	async rename(email: string, name: string): Promise<boolean> {
		const filters = [
			{ columnName: 'email', condition: 'eq', value: email },
			{ columnName: 'name', condition: 'neq', value: name },
		];
		const body = { filter: { type: 'and', filters }, data: { name }, returnData: true };
		const { repeats } = this;
		const changed = (await this.call('PATCH', '/rows', body)) as Row[];
		// The first request of a repeated edit may have made it.
		return changed.length > 0 || this.repeats > repeats;
	}

	private async call(method: string, path: string, body?: object): Promise<unknown> {
		this.place ??= await this.find();
		return await this.ask(method, this.place + path, body);
	}

	/** The table's path, once the workflow has created it. */
	private async find(): Promise<string> {
		const { id } = (await this.ask('GET', '/rest/projects/personal')) as { id: string };
		const filter = encodeURIComponent(JSON.stringify({ name: this.table }));
		const tables = `/rest/projects/${id}/data-tables`;
		return await until(async () => {
			const { data } = (await this.ask('GET', `${tables}?filter=${filter}`)) as { data: Array<{ id: string }> };
			return data[0] && `${tables}/${data[0].id}`;
		});
	}

	private async ask(method: string, path: string, body?: object): Promise<unknown> {
		const { url, session } = this.n8n;
		for (const deadline = Date.now() + maxDownMs; ; this.repeats += 1) {
			const response = await fetch(url + path, {
				method,
				headers: { 'browser-id': session.browserId, cookie: session.cookie, 'content-type': 'application/json' },
				...(body && { body: JSON.stringify(body) }),
			}).catch(() => undefined);
			const text = await response?.text().catch(() => undefined);
			const isJson = response?.headers.get('content-type')?.includes('json') && text !== undefined;
			if (isJson && response!.ok) return (JSON.parse(text) as { data: unknown }).data;
			// While n8n starts, it responds in plain text or with 404.
			const isDown = !isJson || response!.status === 404 || response!.status >= 500;
			if (!isDown || Date.now() > deadline) throw new Error(`${method} ${path}: ${response?.status} ${text}`);
			await sleep(200);
		}
	}
}
