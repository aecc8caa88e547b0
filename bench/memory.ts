import { bareContacts } from './bare-loop.ts';
import { connectorTo, type Reading } from './connector.ts';
import { serverAt } from './server-process.ts';

/** What it is told, as JSON in its only argument. */
export interface Task {
	url: string;
	reading: Reading;
	/** The bare loop's query; the node reads where there is none. */
	query?: string;
}

/** What it prints, as JSON: by how many MB the process grew. */
export interface MemoryGrowth {
	/** Records read. */
	count: number;
	/** Heap and external memory, without garbage. */
	retained: number;
	/** What the system gave. */
	resident: number;
}

/** Reads all contacts in a process of its own, which was started with `--expose-gc`. */
const { url, reading, query } = JSON.parse(process.argv[2]!) as Task;
const connector = connectorTo(url);

// What is loaded with the first request does not belong to the records.
if (query === undefined) await connector.contacts({ ...reading, options: { onePage: true } });
const before = retainedMemory();
const { rss } = process.memoryUsage();
const records = await (query === undefined
	? connector.contacts(reading)
	: bareContacts(serverAt(url), query));
const resident = process.memoryUsage().rss - rss;
const growth: MemoryGrowth = {
	count: records.length,
	retained: (retainedMemory() - before) / 1e6,
	resident: resident / 1e6,
};
console.log(JSON.stringify(growth));
process.exit();

function retainedMemory(): number {
	// The texts that were read lie outside the heap: one collection finds them, the next frees them.
	globalThis.gc!();
	globalThis.gc!();
	const { heapUsed, external } = process.memoryUsage();
	return heapUsed + external;
}
