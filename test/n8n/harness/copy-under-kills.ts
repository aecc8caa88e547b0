import { json } from 'node:stream/consumers';
import type { IDataObject } from 'n8n-workflow';
import { startLocalServer } from '../../support/local-server.ts';
import { hourMs, until } from '../../support/until.ts';
import { baseNode, listAll, pollingWorkflow, type KillableN8n, type ServicePage } from './killable-n8n.ts';

type CopyServer = Awaited<ReturnType<typeof startCopyServer>>;

/** Starts a server with the copy that a workflow keeps: the last item of each record that is posted to it. */
async function startCopyServer() {
	/** Records by id, and the number of those that came as existing ones. */
	const copy = { records: new Map<string, IDataObject>(), existing: 0 };
	const take = (items: IDataObject[]) => {
		for (const { change, ...record } of items) {
			if (change === 'existing') copy.existing += 1;
			if (change === 'deleted') copy.records.delete(String(record['id']));
			else copy.records.set(String(record['id']), record);
		}
	};
	const server = await startLocalServer((request, response) => {
		void json(request).then((items) => {
			take(items as IDataObject[]);
			response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
		});
	});
	return Object.assign(copy, server);
}

/**
 * Publishes a workflow that copies all companies while four writers change them and n8n is killed
 * (SIGKILL) again and again, and waits until the copy equals the service's records.
 *
 * @returns the numbers of records that came as existing ones, and of writes
 */
export async function copyUnderKills(
	n8n: KillableN8n,
	{ records, kills, groupSize }: { records: number; kills: number; groupSize: number },
): Promise<{ existing: number; writes: number }> {
	const { client, credentialId, call } = n8n;
	for (let from = 0; from < records; from += 100) {
		const count = Math.min(100, records - from);
		const items = Array.from({ length: count }, (_, i) => ({ name: `Company ${from + i}` }));
		await call('POST', '/v1/companies/batch/create', { items });
	}
	const before = [...(await companies(n8n)).keys()];
	const copy = await startCopyServer();
	const parameters = {
		source: 'records',
		resource: 'company',
		simplify: false,
		grouping: 'group',
		groupSize,
		doneWhen: 'succeeded',
		attempts: 20,
	};
	const body = '={{ JSON.stringify($input.all().map(({ json }) => json)) }}';
	const post = {
		...baseNode('httpRequest', 4.2, 'Copy', {
			method: 'POST',
			url: copy.url,
			sendBody: true,
			specifyBody: 'json',
			jsonBody: body,
			options: {},
		}),
		executeOnce: true,
	};
	const id = await client.createWorkflow(pollingWorkflow(credentialId, 'Copy', parameters, [post]));
	try {
		await client.activateWorkflow(id);
		let writes = 0;
		const write = async (writer: number) => {
			const companyIds = before.filter((_, i) => i % 4 === writer);
			// Every seventh of its own records, so none twice.
			for (let round = 0; round < records / 50; round++) {
				const target = `/v1/companies/${companyIds[round * 7]}`;
				if (round % 4 === 0) await call('DELETE', target);
				else await call('PATCH', target, { description: `Writer ${writer}, ${round}` });
				await call('POST', '/v1/companies', { name: `New ${writer}.${round}` });
				writes += 2;
			}
		};
		const writers = Promise.all([0, 1, 2, 3].map(write));
		for (let kill = 1; kill <= kills; kill++) {
			await until(() => copy.existing >= (records * kill) / (kills + 1), hourMs);
			await n8n.killAndStart();
		}
		await writers;
		await until(async () => await isEqual(n8n, copy), hourMs);
		await client.deactivateWorkflow(id);
		return { existing: copy.existing, writes };
	} finally {
		await copy.close();
	}
}

async function isEqual(n8n: KillableN8n, { records }: CopyServer): Promise<boolean> {
	const { total } = (await n8n.call('GET', '/v1/companies?limit=1')) as ServicePage;
	if (records.size !== total) return false;
	const service = await companies(n8n);
	return [...service].every(([id, record]) => JSON.stringify(records.get(id)) === JSON.stringify(record));
}

/** All companies of the service by id. */
async function companies({ call }: KillableN8n): Promise<Map<string, IDataObject>> {
	const all = await listAll(call, '/v1/companies', '');
	return new Map(all.map((company) => [String(company['id']), company]));
}
