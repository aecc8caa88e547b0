import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buildConnector } from '../connector.ts';
import { modulesFolder } from '../../tools/link.ts';
import { markdownTable } from '../peers/markdown.ts';
import { fullJitter, queued, type SimulatedConnector } from './clients.ts';
import { type ClientMaker, type Figures, promised, simulate } from './simulate.ts';

/**
 * Simulates the connector's own code on a simulated clock, beside other ways to share a rate limit, and writes
 * bench/results/scale.md.
 *
 * @param executions that always have another request to send
 */
export async function benchScale(executions?: number): Promise<void> {
	await buildConnector();
	const connector = createRequire(import.meta.url)(join(modulesFolder, 'nodes/CrmPlatform/api/http/request.js')) as SimulatedConnector;
	const row = async (name: string, processes: number, maker: ClientMaker) =>
		[name, `${processes}`, ...cells(await simulate({ ...promised, ...(executions !== undefined && { executions }), processes }, maker))];
	const rows = [
		await row('Each execution by itself, backing off with full jitter', 4, fullJitter),
	];
	for (const processes of [1, 4, 16, 50]) rows.push(await row('One queue per process', processes, queued(connector)));
	const title = `# scale\n\n${(executions ?? promised.executions).toLocaleString('en')} executions, ${promised.plan.name}, ten windows:`;
	const text = `${title}\n\n${markdownTable([['', 'Processes', ...heads], ...rows])}\n`;
	console.log(text);
	if (executions === undefined) writeFileSync('bench/results/scale.md', text);
}

const heads = ['Refusals per request', 'Rate limit used', 'Failed', 'Fairness', 'Awaited: median, longest', 'Others: median, longest'];

function cells({ refusals, use, failed, fairness, awaited, bulk }: Figures): string[] {
	const waits = ({ median, longest }: Figures['bulk']) => `${Math.round(median / 1000)} s, ${Math.round(longest / 1000)} s`;
	return [refusals.toFixed(3), `${(use * 100).toFixed(1)} %`, `${(failed * 100).toFixed(1)} %`, fairness.toFixed(2), waits(awaited), waits(bulk)];
}
