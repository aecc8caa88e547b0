import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { installCommunityPackage } from '../demo/community-package.ts';
import { N8nClient } from '../demo/n8n-client.ts';
import { startN8n } from '../demo/n8n-process.ts';
import { freePort } from '../demo/ports.ts';
import { withBuiltPackage } from '../tools/build.ts';
import { installN8n } from '../tools/n8n.mjs';
import { packPackage } from '../tools/pack.ts';
import { residentMemory } from './peak-memory.ts';

/** A real n8n with the built package, for one run. */
export interface RealN8n {
	url: string;
	client: N8nClient;
	/** Reads n8n's database. */
	query<Row>(sql: string): Row[];
	/** Resident memory, in MB. */
	memory(): number;
	stop(): Promise<void>;
}

/** @param settings of n8n, by n8n's names */
export async function startRealN8n(settings: Record<string, string> = {}): Promise<RealN8n> {
	const folder = mkdtempSync(join(tmpdir(), 'n8n-bench-'));
	const remove = () => rmSync(folder, { recursive: true, force: true });
	try {
		const tarball = await withBuiltPackage(() => packPackage(join(folder, 'package')), true);
		await installCommunityPackage(folder, 'n8n-nodes-crm-platform', tarball);
		const ports = { port: await freePort(), brokerPort: await freePort() };
		const place = { userFolder: folder, encryptionKey: 'for one run', settings, ...ports };
		const n8n = startN8n(await installN8n(), place, resolve('.tmp', 'n8n-bench.log'));
		const stop = async () => {
			await n8n.stop();
			remove();
		};
		try {
			await n8n.ready;
			const client = new N8nClient(n8n.url);
			await client.signIn({ email: 'owner@example.com', password: 'For-1-run-only' });
			const query = <Row>(sql: string): Row[] => {
				const database = new DatabaseSync(join(folder, '.n8n', 'database.sqlite'), { readOnly: true });
				try {
					return database.prepare(sql).all() as unknown as Row[];
				} finally {
					database.close();
				}
			};
			return { url: n8n.url, client, query, memory: () => residentMemory(n8n.pid), stop };
		} catch (error) {
			await stop();
			throw error;
		}
	} catch (error) {
		remove();
		throw error;
	}
}
