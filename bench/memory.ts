import { bareContacts } from './bare-loop.ts';
import { connectorTo, type Reading } from './connector.ts';
import { serverAt } from './server-process.ts';

/** The only argument of the process, as JSON. */
export interface MemoryTask {
	url: string;
	reading: Reading;
	/** The bare loop's query; without it, the node reads. */
	query?: string;
}

/** The output of the process, as JSON: by how many MB it grew. */
export interface MemoryGrowth {
	/** Records read. */
	count: number;
	/** Heap and external memory, without garbage. */
	retained: number;
	/** Resident memory. */
	resident: number;
}

/** Reads all contacts in a separate process, which was started with `--expose-gc`. */
const { url, reading, query } = JSON.parse(process.argv[2]!) as MemoryTask;
const connector = connectorTo(url);

// The memory of what the first request loads is not the records'.
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
	// The strings that were read are outside the heap: one collection finds them, the next frees them.
	globalThis.gc!();
	globalThis.gc!();
	const { heapUsed, external } = process.memoryUsage();
	return heapUsed + external;
}
