import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT, type Editor } from './browser.ts';
import type { Clicks } from './clicks.ts';

/** What a task took. */
export interface TaskClicks extends Clicks {
	task: string;
	seconds: number;
}

const page = 'docs/first-workflow.md';
const row = /^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \|/gm;

/** Up to the figures in the last column; a note may follow. */
const comparedRow = /^(\| ([^|]+) \|(?: \d+ \|){3} )\d+, \d+(?:, \d+)?/gm;

/** The efforts that the documentation names, by task. */
export function documentedTasks(): Map<string, Clicks> {
	const rows = [...readFileSync(page, 'utf8').matchAll(row)];
	return new Map(rows.map(([, task, clicks, boxes]) => [task!, { clicks: Number(clicks), boxes: Number(boxes) }]));
}

/** Does a task, and gives what it took. Lists that had to be opened once more because n8n was slow are not counted. */
export async function doTask(
	editor: Editor,
	effort: Clicks,
	task: string,
	run: () => Promise<void>,
): Promise<TaskClicks> {
	Object.assign(effort, { clicks: 0, boxes: 0 });
	editor.repeatedClicks = 0;
	const start = Date.now();
	await run();
	const { clicks, boxes } = effort;
	return { task, clicks: clicks - editor.repeatedClicks, boxes, seconds: Math.round((Date.now() - start) / 1000) };
}

/** Writes the efforts that were seen: into the documentation where its pictures are taken, else under .tmp. */
export function writeTasks(tasks: TaskClicks[]): void {
	const seen = new Map(tasks.map((effort) => [effort.task, effort]));
	const text = readFileSync(page, 'utf8').replace(row, (line, task: string) => {
		const { clicks, boxes, seconds } = seen.get(task) ?? {};
		return clicks === undefined ? line : `| ${task} | ${clicks} | ${boxes} | ${seconds} |`;
	});
	writeFileSync(process.env['PICTURES'] ? page : join(OUTPUT, 'first-workflow.md'), text);
}

/** Writes into the documentation what the same tasks took with the node that ours is compared with. */
export function writeComparedTasks(tasks: TaskClicks[]): void {
	const seen = new Map(tasks.map((effort) => [effort.task, effort]));
	const text = readFileSync(page, 'utf8').replace(comparedRow, (line, before: string, task: string) => {
		const { clicks, boxes, seconds } = seen.get(task) ?? {};
		return clicks === undefined ? line : `${before}${clicks}, ${boxes}, ${seconds}`;
	});
	writeFileSync(page, text);
}
