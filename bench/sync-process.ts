import { readFileSync } from 'node:fs';
import { bareSync, itemsOf, type Person } from './bare-sync.ts';
import { connectorTo } from './connector.ts';
import { serverAt } from './server-process.ts';

/** What it is told, as JSON on its standard input. */
export interface SyncTask {
	url: string;
	which: 'ours' | 'bare';
	source: Person[];
}

/** Brings all people in step in a process of its own, which was started with `--expose-gc`. */
const { url, which, source } = JSON.parse(readFileSync(0, 'utf8')) as SyncTask;
const items = itemsOf(source);
// What is loaded with the first request is none of the records'.
await connectorTo(url).contacts({ options: { onePage: true } });
globalThis.gc!();
globalThis.gc!();
const before = process.memoryUsage.rss();
let highest = before;
const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 50);
const updated = which === 'ours' ? (await connectorTo(url).sync(items, {}))[1] : await bareSync(serverAt(url), source);
clearInterval(watch);
if (updated === 0) throw new Error('Nothing was updated.');
highest = Math.max(highest, process.memoryUsage.rss());
// What it printed is megabytes.
console.log((highest - before) / 1e6);
process.exit();
