import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buildPackage } from '../../tools/build.ts';
import { modulesFolder } from '../../tools/link.ts';
import { fillSection } from '../../tools/marked-section.ts';
import { markdownTable } from '../peers/markdown.ts';
import { aimd, awsAdaptive, type SimulatedConnector, eachByItself, fullJitter, queued } from './clients.ts';
import { linePlot } from './line-plot.ts';
import type { SimulatedPlan } from './service.ts';
import { type ClientMaker, type Figures, promised, simulate } from './simulate.ts';

const page = 'docs/scale.md';
const markers = ['<!-- figures: npm run bench scale -->', '<!-- end of figures -->'] as const;
const starter = promised.plan;
const pro: SimulatedPlan = { ...starter, name: '5,000 a minute', requests: 5_000 };
const small: SimulatedPlan = { ...starter, name: '100 in 10 s', requests: 100, windowMs: 10_000 };

/** Simulates the connector's queue on a simulated clock, and writes the figures into docs/scale.md. */
export async function benchScale(): Promise<void> {
	await buildPackage();
	const http = (file: string): object =>
		createRequire(import.meta.url)(join(modulesFolder, 'nodes/CrmPlatform/api/http', `${file}.js`)) as object;
	const connector = { ...http('request'), ...http('retry'), ...http('rateLimitHeaders') } as SimulatedConnector;
	const ours = queued(connector);

	const rules: Array<[string, ClientMaker]> = [
		['One queue per process', ours],
		['Each by itself, by the headers', eachByItself(connector)],
		['Backoff with full jitter', fullJitter],
		['AIMD', aimd],
		['AWS’s adaptive mode', awsAdaptive],
	];
	const comparisonRows: string[][] = [];
	for (const [name, maker] of rules) comparisonRows.push([name, ...cells(await simulate(promised, maker))]);

	const planRows: string[][] = [];
	for (const plan of [starter, pro, small]) {
		for (const counts of ['fixed window', 'sliding window', 'token bucket'] as const) {
			for (const processes of [1, 4, 16, 50]) {
				const windows = plan === small ? 30 : 10;
				const figures = await simulate({ plan: { ...plan, counts }, executions: 1_000, processes, windows }, ours);
				planRows.push([`${plan.name}, ${counts}`, `${processes}`, ...cells(figures)]);
			}
		}
	}

	const lines = [];
	for (const [name, maker] of rules) {
		const points: Array<[number, number]> = [];
		for (const executions of [1, 4, 20, 100, 1_000, 10_000]) {
			const scenario = { plan: starter, executions, processes: Math.min(4, executions), windows: 3 };
			points.push([executions, (await simulate(scenario, maker)).refusals]);
		}
		lines.push({ name, points });
	}
	writeFileSync('bench/scale.svg', linePlot('Refusals per request that passes, 1,000 requests a minute', lines));
	write([
		`${promised.executions.toLocaleString('en')} executions in ${promised.processes} processes, ${starter.name}, ten windows:`,
		markdownTable([['', ...heads], ...comparisonRows]),
		'The connector with 1,000 executions, by plan and number of processes:',
		markdownTable([['Plan', 'Processes', ...heads], ...planRows]),
	]);
}

const heads = ['Refusals per request', 'Plan used', 'Failed', 'Fairness', 'Awaited: median, longest', 'Others: median, longest'];

function cells({ refusals, use, failed, fairness, awaited, bulk }: Figures): string[] {
	const waits = ({ median, longest }: Figures['bulk']) => `${Math.round(median / 1000)} s, ${Math.round(longest / 1000)} s`;
	return [refusals.toFixed(3), `${(use * 100).toFixed(1)} %`, `${(failed * 100).toFixed(1)} %`, fairness.toFixed(2), waits(awaited), waits(bulk)];
}

function write(parts: string[]): void {
	const text = parts.join('\n\n');
	writeFileSync(page, fillSection(readFileSync(page, 'utf8'), markers, text));
	console.log(text);
}
