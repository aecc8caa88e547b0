import { measureGetsBeside } from './gets-beside.ts';
import type { Row } from './measure.ts';
import { withSandbox } from './sandbox-server.ts';
import { searches } from './searches.ts';

const contacts = 100_000;

/**
 * How long one client waits for a single record while another searches without pause, beside how long
 * it waits alone.
 */
export async function benchLoad(): Promise<Row[]> {
	return await withSandbox(contacts, async (server) => {
		const rows: Row[] = [];
		for (const activity of Object.keys(searches)) rows.push(...(await measureGetsBeside(server, activity)));
		return rows;
	});
}
