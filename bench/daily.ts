import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { installN8n } from '../tools/n8n.mjs';
import type { Parts } from '../test/support/node-context.ts';
import { bareContacts, sendBatches } from './bare-loop.ts';
import { buildConnector, connectorTo } from './connector.ts';
import { type Pair, type Row, rowOf, sideBySide, time } from './measure.ts';
import { runJob } from './run-job.ts';
import { withSandbox } from './sandbox-server.ts';
import { type Server, startDistance } from './server-process.ts';

/** Get Many of deals with the names of linked records, beside Get Many without them, over a network of 50 ms. */
export const benchNames = async (deals = 10_000): Promise<Row[]> =>
	await withDeals(deals, async (near) => {
		const far = await startDistance(near.url, 50);
		const rows = [
			...(await bothOf('default names, at 50 ms', 9, async (which) => await readDeals(far, which === 'ours' ? {} : { addNames: false }))),
			...(await bothOf('all names, at 50 ms', 9, async (which) => await readDeals(far, { addNames: which === 'ours' }))),
		];
		await far.stop();
		return rows;
	});

/** Count, beside Get Many and n8n's Summarize. */
export async function benchCount(deals = 100_000): Promise<Row[]> {
	const path = ['n8n-nodes-base', 'dist', 'nodes', 'Transform', 'Summarize', 'Summarize.node.js'];
	const load = createRequire(import.meta.url) as (file: string) => { Summarize: new () => Parts['node'] };
	const summarize = new (load(join(await installN8n(), 'node_modules', ...path)).Summarize)();
	return await withDeals(deals, async (server) => {
		const rows: Row[] = [];
		for (const [by, ...sums] of [['status'], ['owner_id'], ['company_id'], ['source', 'amount']]) {
			const values = [['count', 'id'], ...sums.map((field) => ['sum', field])].map(([aggregation, field]) => ({ aggregation, field }));
			rows.push(...(await bothOf([by, ...sums].join(', sum of '), 3, async (which) => {
				if (which === 'ours') return await connectorTo(server.url).run({ resource: 'deal', operation: 'count', filters: {}, groupBy: [by], sumOf: sums });
				const items = (await readDeals(server, {})).map(({ json }) => json);
				return await connectorTo(server.url).run({ fieldsToSummarize: { values }, fieldsToSplitBy: by, options: {} }, items, summarize);
			})));
		}
		return rows;
	});
}

/** Merge of pairs of contacts with five deals each, beside the updates and deletions that know the result. */
export async function benchMerge(pairs = 1_000): Promise<Row[]> {
	await buildConnector();
	return await withSandbox(0, async (server) =>
		await bothOf(`${pairs.toLocaleString('en')} pairs`, 5, async (which, { twins, deals }) => {
			if (which === 'ours') {
				const settings = { ids: '={{ $json.ids }}', survivor: 'oldest', survivorId: '', fieldRules: {}, maxDeletions: pairs, options: {} };
				const items = twins.map(({ stays, goes }) => ({ ids: [stays, goes] }));
				const merged = await connectorTo(server.url).run({ resource: 'contact', operation: 'merge', preview: false, ...settings }, items, 'CrmPlatformDuplicates');
				if (merged.some(({ json }) => json['result'] !== 'merged' || (json['links'] as unknown[]).length !== 10)) throw new Error('Not all pairs were merged.');
			} else {
				await sendBatches(server, '/v1/contacts/batch/update', twins.map(({ stays }) => ({ id: stays, job_title: 'Engineer' })));
				await sendBatches(server, '/v1/deals/batch/update', deals);
				await sendBatches(server, '/v1/contacts/batch/delete', twins.map(({ goes }) => ({ id: goes })));
			}
		}, async () => await twinsWithDeals(server, pairs)), '--faults');
}

async function twinsWithDeals(server: Server, pairs: number) {
	const create = async (more: object) => await sendBatches(server, '/v1/contacts/batch/create', Array.from({ length: pairs }, () => ({ last_name: 'Twin', ...more })));
	const stay = await create({});
	const twins = (await create({ job_title: 'Engineer' })).map(({ data: { id } }, i) => ({ stays: stay[i]!.data.id, goes: id }));
	const survivors = new Map(twins.map(({ stays, goes }) => [goes, stays]));
	const links = twins.flatMap(({ goes }) => Array.from({ length: 5 }, () => ({ title: 'Deal', contact_id: goes })));
	const deals = (await sendBatches(server, '/v1/deals/batch/create', links)).map(({ data: { id, contact_id: goes = '' } }) => {
		const stays = survivors.get(goes)!;
		return { id, contact_id: stays, contact_ids: [stays] };
	});
	return { twins, deals };
}

const readDeals = async ({ url }: Server, options: IDataObject): Promise<INodeExecutionData[]> =>
	await connectorTo(url).run({ resource: 'deal', operation: 'getMany', returnAll: true, simplify: true, options });

/** Works with a sandbox of that many deals, which link to 10,000 contacts and 1,000 companies at most. */
async function withDeals(count: number, work: (server: Server) => Promise<Row[]>): Promise<Row[]> {
	await buildConnector();
	return await withSandbox(Math.min(count, 10_000), async (server) => {
		const people = (await bareContacts(server, 'limit=500&fields=company_id')) as Array<{ id: string; company_id: string | null }>;
		const { total } = JSON.parse(await server.call('GET', '/v1/deals?limit=1')) as { total: number };
		const lines = Array.from({ length: count - total }, (_, i) => {
			const { id, company_id: companyId } = people[(i * 7919) % people.length]!;
			return JSON.stringify({ title: `Deal ${i}`, amount: i, contact_id: id, company_id: companyId, source: ['website', 'event', null][i % 3] });
		});
		await runJob(server, 'resource=deals&operation=create', { lines: lines.join('\n'), headers: { 'Idempotency-Key': randomUUID() } });
		return await work(server);
	});
}

/** The time, and the processor time of the process without the sandbox's, of both. */
async function bothOf<Input>(label: string, rounds: number, work: (which: keyof Pair, input: Input) => Promise<unknown>, prepare?: () => Promise<Input>): Promise<Row[]> {
	const processor: Pair = { ours: [], bare: [] };
	const elapsed = await sideBySide(rounds, async (which, round) => {
		const input = (await prepare?.()) as Input;
		const before = process.cpuUsage();
		const milliseconds = await time(async () => await work(which, input));
		const { user, system } = process.cpuUsage(before);
		if (round > 0) processor[which].push((user + system) / 1000);
		return milliseconds;
	});
	return [rowOf(label, 'ms', elapsed), rowOf(`${label}, processor`, 'ms', processor)];
}
