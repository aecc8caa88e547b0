import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT } from './browser.ts';
import type { Effort } from './effort.ts';

/** What a task took. */
export interface TaskEffort extends Effort {
	task: string;
	seconds: number;
}

const page = 'docs/first-workflow.md';
const row = /^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \|/gm;

/** The efforts that the documentation names, by task. */
export function documentedTasks(): Map<string, Effort> {
	const rows = [...readFileSync(page, 'utf8').matchAll(row)];
	return new Map(rows.map(([, task, clicks, boxes]) => [task!, { clicks: Number(clicks), boxes: Number(boxes) }]));
}

/** Writes the efforts that were seen: into the documentation where its pictures are taken, else under .tmp. */
export function writeTasks(tasks: TaskEffort[]): void {
	const seen = new Map(tasks.map((one) => [one.task, one]));
	const text = readFileSync(page, 'utf8').replace(row, (line, task: string) => {
		const { clicks, boxes, seconds } = seen.get(task) ?? {};
		return clicks === undefined ? line : `| ${task} | ${clicks} | ${boxes} | ${seconds} |`;
	});
	writeFileSync(process.env['PICTURES'] ? page : join(OUTPUT, 'first-workflow.md'), text);
}
