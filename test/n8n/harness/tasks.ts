import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputFolder, type Editor } from './browser.ts';
import type { Clicks } from './clicks.ts';

/** The effort of a task. */
export interface TaskClicks extends Clicks {
	task: string;
	seconds: number;
}

const page = 'docs/guide/start.md';
const row = /^(\| ([^|]+) \|) (\d+) \| (\d+) \| (\d+) \|/gm;

/** The documented efforts by task. */
export function documentedTasks(): Map<string, Clicks> {
	const rows = [...readFileSync(page, 'utf8').matchAll(row)];
	return new Map(rows.map(([, , task, clicks, boxes]) => [task!, { clicks: Number(clicks), boxes: Number(boxes) }]));
}

/** Does a task. @returns its effort, without clicks on lists that had to be reopened because n8n was slow */
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

/** Writes the efforts: into the documentation if its pictures are being taken, otherwise under .tmp. */
export function writeTasks(tasks: TaskClicks[]): void {
	const efforts = new Map(tasks.map((effort) => [effort.task, effort]));
	const text = readFileSync(page, 'utf8').replace(row, (line, _: string, task: string) => {
		const effort = efforts.get(task);
		return effort ? `| ${task} | ${effort.clicks} | ${effort.boxes} | ${effort.seconds} |` : line;
	});
	writeFileSync(process.env['PICTURES'] ? page : join(outputFolder, 'first-workflow.md'), text);
}
