import { json } from 'node:stream/consumers';
import { bareSync, itemsOf, type Person } from './bare-sync.ts';
import { connectorTo } from './connector.ts';
import { peakGrowth } from './peak-memory.ts';
import { serverAt } from './server-process.ts';

/** What it is told, as JSON on its standard input. */
export interface SyncTask {
	url: string;
	which: 'ours' | 'bare';
	source: Person[];
}

/** Brings all people in step in a process of its own, which was started with `--expose-gc`. Prints by how many MB it grew. */
const { url, which, source } = (await json(process.stdin)) as SyncTask;
const items = itemsOf(source);
// What the first request loads does not count as the records' memory.
await connectorTo(url).contacts({ options: { onePage: true } });
let updated: number | undefined = 0;
const growth = await peakGrowth(async () => {
	updated = which === 'ours' ? (await connectorTo(url).sync(items, {}))[1] : await bareSync(serverAt(url), source);
});
if (updated === 0) throw new Error('Nothing was updated.');
console.log(growth);
process.exit();
