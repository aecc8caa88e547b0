import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sendBatches } from './bare-loop.ts';
import type { IDataObject } from 'n8n-workflow';
import { automatic, connectorTo, type ExpressionEngine, mapped } from './connector.ts';
import { type Pair, type Row, rowOf, sideBySide, time } from './measure.ts';
import { type Server, startServer } from './server-process.ts';

const label = (creates: number) => `${creates.toLocaleString('en')} creates`;

/** Many records written, in batches. */
export async function writes(sandbox: Server, creates: number): Promise<Row[]> {
	return [rowOf(label(creates), 'ms', await create(sandbox, creates, automatic))];
}

/** Many records written in batches to a distant service. */
export async function writesFar(sandbox: Server, creates: number): Promise<Row[]> {
	return [rowOf(label(creates), 'ms', await create(sandbox, creates, automatic))];
}

/** The creates, sent to a server with nothing behind it, so that only the node's own work is measured. */
export async function mappings(sandbox: Server, creates: number): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), 'bench-'));
	const responsesFile = join(folder, 'responses.json');
	const batch = '/v1/contacts/batch/create';
	const body = JSON.stringify({ items: people(100) });
	const responsesByRequest = {
		'GET /openapi.json': await sandbox.call('GET', '/openapi.json'),
		[`POST ${batch}`]: await sandbox.call('POST', batch, body),
	};
	writeFileSync(responsesFile, JSON.stringify(responsesByRequest));
	const bareServer = await startServer([resolve('bench', 'bare-server.ts'), responsesFile]);
	const row = async (mapping: string, fields: IDataObject, engine?: ExpressionEngine) =>
		rowOf(`${label(creates)} with nothing behind, ${mapping}`, 'ms', await create(bareServer, creates, fields, engine));
	const code = fromEach((name) => `={{ $json.${name}.trim() }}`);
	const codeOfItem = fromEach((name) => `={{ $input.item.json.${name}.trim() }}`);
	try {
		return [
			await row('automatic mapping', automatic),
			await row('five plain fields', fromEach((name) => `={{ $json.${name} }}`)),
			await row('five code expressions', code),
			await row('five code expressions, engine vm', code, 'vm'),
			await row('the same item by item, engine vm', codeOfItem, 'vm'),
		];
	} finally {
		await bareServer.stop();
		rmSync(folder, { recursive: true });
	}
}

/** @param fields the node's mapping; the bare loop sends the values as they are */
const create = (server: Server, creates: number, fields: IDataObject, engine?: ExpressionEngine): Promise<Pair> =>
	sideBySide(3, (which) => {
		const items = people(creates);
		return time(async () => {
			const creating =
				which === 'ours'
					? connectorTo(server.url).create(items, fields, engine)
					: sendBatches(server, '/v1/contacts/batch/create', items);
			const { length } = await creating;
			if (length !== creates) throw new Error(`${length} of ${creates} were created.`);
		});
	});

let personCount = 0;
const people = (count: number) =>
	Array.from({ length: count }, () => ({
		first_name: 'Ana',
		last_name: 'Moreno',
		email: `bench${personCount++}@x.example`,
		job_title: 'Engineer',
		lead_source: 'website',
	}));

const fromEach = (expression: (name: string) => string) =>
	mapped(Object.fromEntries(Object.keys(people(1)[0]!).map((name) => [name, expression(name)])));
