import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fillSection } from '../../tools/marked-section.ts';
import { markdownTable } from '../peers/markdown.ts';
import { machine } from '../report.ts';
import { oneOperationEach, sixTools, type Toolset } from './dialects.ts';
import { hardTasks } from './hard-tasks.ts';
import { httpRequest, hubSpot } from './other-nodes.ts';
import { play, policies, type Dialect, type Played, type Policy } from './policies.ts';
import { readingTasks } from './reading-tasks.ts';
import { agentSurface, mcpSurface, type Surface } from './surfaces.ts';
import type { AgentTask } from './task.ts';
import { startToolsWorld, type ServiceWrite, type ToolsWorld } from './world.ts';
import { writingTasks } from './writing-tasks.ts';

const allTasks = [...readingTasks, ...writingTasks, ...hardTasks];

/** The results of all tasks, by one policy on one surface. */
interface Score {
	toolset: string;
	surface: string;
	policy: Policy;
	tasks: number;
	done: number;
	calls: number;
	schemas: number;
	answers: number;
	wrongWrites: number;
	doubleWrites: number;
	missed: string[];
	/** The cost of each task, by its name. */
	efforts: Map<string, Effort>;
}

interface Effort {
	isDone: boolean;
	calls: number;
	answers: number;
}

/** Runs tasks on made-up records with scripted models: an expert, a newcomer and a sloppy one. */
export async function benchTools(): Promise<void> {
	const world = await startToolsWorld();
	try {
		const scores: Score[] = [];
		const benchSurface = async (toolset: Toolset, surface: Surface) => {
			if (toolset.dialect) for (const policy of policies) scores.push(await score(world, toolset.name, toolset.dialect, surface, policy));
			else scores.push(await schemasAlone(toolset.name, surface));
			await surface.close();
		};
		await benchSurface(sixTools, await agentSurface(world, sixTools, 3.1));
		await benchSurface(sixTools, await agentSurface(world, sixTools, 2.2));
		await benchSurface(sixTools, await mcpSurface(world, sixTools));
		await benchSurface(oneOperationEach, await agentSurface(world, oneOperationEach, 3.1));
		await benchSurface(httpRequest, await agentSurface(world, httpRequest, 3.1));
		await benchSurface(hubSpot, await agentSurface(world, hubSpot, 3.1));
		publishScores(scores);
	} finally {
		await world.stop();
	}
}

const noScore = (toolset: string, surface: string): Score => ({ toolset, surface, policy: 'expert', tasks: 0, done: 0, calls: 0, schemas: 0, answers: 0, wrongWrites: 0, doubleWrites: 0, missed: [], efforts: new Map() });

/** The descriptions of the tools that the model reads. */
async function schemasAlone(toolset: string, surface: Surface): Promise<Score> {
	await surface.run((async function* () {})());
	if (surface.schemas() === 0) throw new Error(`${toolset}: the model got no tools.`);
	return { ...noScore(toolset, surface.name), schemas: surface.schemas() };
}

async function score(world: ToolsWorld, toolset: string, dialect: Dialect, surface: Surface, policy: Policy): Promise<Score> {
	const total: Score = { ...noScore(toolset, surface.name), policy };
	for (const [number, make] of allTasks.entries()) {
		const mark = `m${Date.now().toString(36)}${number}`;
		const task = await make(world.crm, mark);
		await world.writes();
		const played: Played = { calls: 0, characters: 0, hasSeen: true, answers: [] };
		await surface.run(play(task, policy, dialect, world.crm, played));
		await world.crm.heal();
		const { wrong, double, isComplete } = judge(task, await world.writes());
		const isDone = played.hasSeen && isComplete && wrong + double === 0 && (await task.isDone());
		total.tasks += 1;
		total.done += isDone ? 1 : 0;
		total.calls += played.calls;
		total.efforts.set(task.name, { isDone, calls: played.calls, answers: played.characters });
		total.answers += played.characters;
		total.wrongWrites += wrong;
		total.doubleWrites += double;
		if (!isDone) total.missed.push(task.name);
		if (!isDone && process.env['BENCH_TOOLS_TRACE']) console.log(task.name, JSON.stringify(played.answers).slice(0, 1_500));
	}
	total.schemas = surface.schemas();
	console.log(`${total.toolset}, ${surface.name}, ${policy}: ${total.done} of ${total.tasks}; missed: ${total.missed.join(', ')}`);
	return total;
}

/** Writes to records of other tasks are wrong; more writes than the task takes are double. */
function judge({ writes, targets }: AgentTask, done: ServiceWrite[]): { wrong: number; double: number; isComplete: boolean } {
	const created = new Set(done.flatMap(({ types, ids }) => ids.filter((_, i) => types[i]!.endsWith('.created'))));
	const wrong = done.filter(({ ids }) => ids.some((id) => !targets.includes(id) && !created.has(id))).length;
	const others = done.length - wrong;
	return { wrong, double: Math.max(0, others - writes), isComplete: others === writes };
}

function publishScores(scores: Score[]): void {
	const percent = (part: number, total: number) => `${((100 * part) / total).toFixed(0)} %`;
	const rows = scores.map((entry) =>
		entry.tasks === 0
			? [entry.toolset, entry.surface, '', '', '', entry.schemas.toLocaleString('en'), '', '', '']
			: [
					entry.toolset,
					entry.surface,
					entry.policy,
					percent(entry.done, entry.tasks),
					(entry.calls / entry.tasks).toFixed(1),
					entry.schemas.toLocaleString('en'),
					Math.round(entry.answers / entry.tasks).toLocaleString('en'),
					String(entry.wrongWrites),
					String(entry.doubleWrites),
				],
	);
	const head = ['Tools', 'Used by', 'Policy', 'Done', 'Calls for a task', 'Characters of schemas', 'Characters of answers for a task', 'Wrong writes', 'Double writes'];
	const table = `${markdownTable([head, ...rows], 3)}\n\n${besideEachOther(scores)}`;
	const missed = scores.filter((entry) => entry.missed.length > 0).map((entry) => `- ${entry.toolset}, ${entry.surface}, ${entry.policy}: ${entry.missed.join('; ')}`);
	const text = `# tools\n\n${machine()}\n\n${scores[0]!.tasks} tasks\n\n${table}\n\nNot done:\n\n${missed.join('\n')}\n`;
	const folder = resolve('bench', 'results');
	mkdirSync(folder, { recursive: true });
	writeFileSync(resolve(folder, 'tools.md'), text);
	writeFileSync(resolve(folder, 'tools.json'), `${JSON.stringify({ machine: machine(), scores: scores.map(({ efforts: _, ...entry }) => entry) }, null, '\t')}\n`);
	const page = resolve('docs', 'agents.md');
	writeFileSync(page, fillSection(readFileSync(page, 'utf8'), ['<!-- figures of bench tools -->', '<!-- end of figures -->'], table));
	console.log(`\n${text}`);
}

/** The tasks that all surfaces can do, which alone are comparable: an impossible task takes no calls. */
function besideEachOther(scores: Score[]): string {
	const rows = policies.flatMap((policy) => {
		const all = scores.filter((entry) => entry.tasks > 0 && entry.policy === policy && entry.surface === 'AI Agent 3.1');
		const names = [...all[0]!.efforts.keys()].filter((name) => all.every(({ efforts }) => efforts.get(name)!.isDone));
		return all.map(({ toolset, schemas, efforts }) => {
			const mean = (valueOf: (effort: Effort) => number) => names.reduce((sum, name) => sum + valueOf(efforts.get(name)!), 0) / names.length;
			const read = mean(({ calls, answers }) => (calls + 1) * schemas + answers);
			return [toolset, policy, String(names.length), mean(({ calls }) => calls).toFixed(1), Math.round(mean(({ answers }) => answers)).toLocaleString('en'), Math.round(read).toLocaleString('en')];
		});
	});
	const head = ['Tools', 'Policy', 'Tasks that all do', 'Calls for a task', 'Characters of answers', 'Characters the model reads for a task'];
	return `On the tasks that all of them do, by AI Agent 3.1. The schemas go along with each message to the model:\n\n${markdownTable([head, ...rows], 2)}`;
}
