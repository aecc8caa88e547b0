import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createApp } from '../../../sandbox/app.ts';
import { seed } from '../../../sandbox/seed/seed.ts';
import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { Store } from '../../../sandbox/core/store/store.ts';
import { watchContents } from './database-contents.ts';
import { type Answered, brokenAnswerPromises } from './answer-promises.ts';
import type { Draft } from './requests.ts';
import { encoded } from './values.ts';

const apiKey = 'fuzz-key';
/** The client id of the application that users let in. */
export const clientId = 'cli_fuzz';
const now = Date.parse('2026-01-05T10:00:00.000Z');

/** A sandbox, in process, that drafts of requests are sent to. */
export interface FuzzedSandbox {
	/** Sends one; in words, what the service promises and does not keep, and the answer. */
	send(draft: Draft): Promise<{ broken: string[]; answer: Answered }>;
	close(): void;
}

/** Its clock stands still, so that nothing is written that no request has asked for. */
export async function openFuzzedSandbox(): Promise<FuzzedSandbox> {
	const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
	const store = new Store(join(folder, 'sandbox.db'));
	seed(store, 20, { day: '2025-07-01' });
	store.apiKeys.add('key_fuzz', apiKey, { now });
	const filledIn = placeholdersOf(store);
	const app = createApp({ store, requestsPerMinute: 1_000_000_000, now: () => now });
	const contents = watchContents(join(folder, 'sandbox.db'));

	const ask = async (method: string, path: string, init: RequestInit = {}): Promise<Answered> => {
		const response = await app.request(path, { method, ...init });
		return { status: response.status, headers: response.headers, text: await response.text() };
	};
	const authorization = { Authorization: `Bearer ${apiKey}` };
	const read = async (path: string) =>
		JSON.parse((await ask('GET', path, { headers: authorization })).text);

	/** Until all that a request has set going is done. */
	const settle = async () => {
		await read('/v1/messages?limit=1');
		while ((await read('/v1/jobs?status=queued,processing')).total > 0) await turn();
		const { total } = await read('/v1/jobs?status=failed');
		return total === 0 ? [] : ['no job makes the service fail'];
	};

	for (const status of ['paused', 'paused', 'active']) {
		// Private, so that nothing is ever sent.
		const webhook = { url: 'http://127.0.0.1:9/', events: ['*'], status };
		await ask('POST', '/v1/webhooks', {
			headers: { ...authorization, 'Content-Type': 'application/json' },
			body: JSON.stringify(webhook),
		});
	}
	await settle();
	return {
		async send({ method, path, query, headers, body }) {
			const address = filledIn(path);
			const search = query.map((pair) => pair.map(encoded).join('=')).join('&');
			const before = contents.summary();
			const answer = await ask(method, `${address}${search && '?'}${filledIn(search)}`, {
				headers: Object.fromEntries(
					Object.entries(headers).map(([name, value]) => [name, filledIn(value)]),
				),
				// No client sends one with the others.
				...(body !== undefined && !['GET', 'HEAD'].includes(method) && { body: typeof body === 'string' ? filledIn(body) : body }),
			});
			const broken = brokenAnswerPromises(method, address, answer);
			if (answer.status < 400) return { broken: [...broken, ...(await settle())], answer };
			if (contents.summary() !== before) broken.push('a refused request changes nothing');
			return { broken, answer };
		},
		close() {
			contents.close();
			store.close();
			rmSync(folder, { recursive: true });
		},
	};
}

/** Fills in what a draft leaves open: keys, tokens and ids of records. */
function placeholdersOf(store: Store): (text: string) => string {
	const tokens = tokensOf(store);
	return (text) =>
		text.replace(/«([^:»]+)(?::(\d+))?»/g, (_, name: string, n: string) => {
			if (name === 'key') return apiKey;
			if (name === 'code' || name === 'refresh') return tokens[name];
			const records = store.table(name)?.findAll([], 100) ?? [];
			return records[Number(n) % records.length]?.id ?? 'none';
		});
}

/** A code and a refresh token that a user let the application have. */
function tokensOf(store: Store): { code: string; refresh: string } {
	const redirectUri = 'http://localhost/callback';
	const client = { id: clientId, name: 'n8n', redirectUris: [redirectUri], createdAt: now };
	store.clients.add(client, 'secret');
	const grant = { id: 'grant_fuzz', clientId, userId: demoMembers[0]!.id, scopes: ['contacts:read'] };
	const code = { redirectUri, challenge: 'unknown', expiresAt: now + 60_000 };
	return { code: store.grants.add(grant, code, now), refresh: store.tokens.addRefresh(grant.id) };
}
