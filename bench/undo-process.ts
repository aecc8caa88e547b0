import { json } from 'node:stream/consumers';
import { bareUpdates, type Person } from './bare-undo.ts';
import { connectorTo } from './connector.ts';
import { peakGrowth } from './peak-memory.ts';
import { serverAt } from './server-process.ts';

/** What it is told, as JSON on its standard input. */
export interface UndoTask {
	url: string;
	which: 'ours' | 'bare';
	before: Person[];
	execution: string;
	since: string;
}

/** Undoes an execution in a process of its own, which was started with `--expose-gc`. Prints by how many MB it grew. */
const task = (await json(process.stdin)) as UndoTask;
const { url, which, execution, since } = task;
const before = which === 'bare' ? task.before : [];
task.before = [];
// What the first request loads does not count as the records' memory.
await connectorTo(url).contacts({ options: { onePage: true } });
const work = async () => (which === 'ours' ? await connectorTo(url).undo(execution, since) : await bareUpdates(serverAt(url), before));
console.log(await peakGrowth(work));
process.exit();
