import { json } from 'node:stream/consumers';
import { sendBatches } from './bare-loop.ts';
import type { FormerValues } from './bare-undo.ts';
import { connectorTo } from './connector.ts';
import { peakGrowth } from './peak-memory.ts';
import { serverAt } from './server-process.ts';

/** The standard input of the process, as JSON. */
export interface UndoTask {
	url: string;
	which: 'ours' | 'bare';
	before: FormerValues[];
	execution: string;
	since: string;
}

/** Undoes an execution in a separate process, which was started with `--expose-gc`. Prints how many MB it grew by. */
const task = (await json(process.stdin)) as UndoTask;
const { url, which, execution, since } = task;
const before = which === 'bare' ? task.before : [];
task.before = [];
// The memory of what the first request loads is not the records'.
await connectorTo(url).contacts({ options: { onePage: true } });
const work = async () => (which === 'ours' ? await connectorTo(url).undo(execution, since) : await sendBatches(serverAt(url), '/v1/contacts/batch/update', before));
console.log(await peakGrowth(work));
process.exit();
