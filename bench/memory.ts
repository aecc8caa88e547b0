import { bareContacts } from './bare-loop.ts';
import { connectorTo } from './connector.ts';
import { serverAt } from './server-process.ts';

/**
 * Reads all contacts of the server at an address (second argument), with the node or with the bare
 * loop (first argument, `ours` or `bare`), in a process of its own with `--expose-gc`. Prints by how
 * many MB this process grew, as JSON: what the records hold, and what the system gave.
 */
const [which, url = ''] = process.argv.slice(2);
const connector = connectorTo(url);
const read = which === 'ours' ? () => connector.contacts() : () => bareContacts(serverAt(url));

// What is loaded with the first request is none of the records'.
if (which === 'ours') await connector.contacts({ onePage: true });
const before = held();
const { rss } = process.memoryUsage();
const records = await read();
const grown = { resident: process.memoryUsage().rss - rss, held: held() - before };
console.log(
	JSON.stringify({ count: records.length, held: grown.held / 1e6, resident: grown.resident / 1e6 }),
);
process.exit();

function held(): number {
	globalThis.gc!();
	const { heapUsed, external } = process.memoryUsage();
	return heapUsed + external;
}
