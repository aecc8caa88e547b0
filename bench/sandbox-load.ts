import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beside } from './beside.ts';
import type { Row } from './measure.ts';
import { startSandbox } from './sandbox-server.ts';
import { searches } from './searches.ts';

const contacts = 100_000;

/**
 * How long one client waits for a single record while another searches without pause, beside how long
 * it waits alone.
 */
export async function benchLoad(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), 'bench-'));
	console.log(`A sandbox with ${contacts.toLocaleString('en')} contacts is being filled.`);
	const server = await startSandbox(folder, 'load', contacts);
	try {
		const rows: Row[] = [];
		for (const activity of Object.keys(searches)) rows.push(...(await beside(server, activity)));
		return rows;
	} finally {
		await server.stop();
		rmSync(folder, { recursive: true });
	}
}
