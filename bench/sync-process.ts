import { json } from 'node:stream/consumers';
import { bareSync, itemsOf, type SyncedPerson } from './bare-sync.ts';
import { connectorTo } from './connector.ts';
import { peakGrowth } from './peak-memory.ts';
import { serverAt } from './server-process.ts';

/** The standard input of the process, as JSON. */
export interface SyncTask {
	url: string;
	which: 'ours' | 'bare';
	source: SyncedPerson[];
}

/** Syncs all people in a separate process, which was started with `--expose-gc`. Prints how many MB it grew by. */
const { url, which, source } = (await json(process.stdin)) as SyncTask;
const items = itemsOf(source);
// The memory of what the first request loads is not the records'.
await connectorTo(url).contacts({ options: { onePage: true } });
let updated: number | undefined = 0;
const growth = await peakGrowth(async () => {
	updated = which === 'ours' ? (await connectorTo(url).sync(items, {}))[1] : await bareSync(serverAt(url), source);
});
if (updated === 0) throw new Error('Nothing was updated.');
console.log(growth);
process.exit();
