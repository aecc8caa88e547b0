import type { Move } from '../../demo/scripted-model.ts';
import type { AgentStep, AgentTask } from './task.ts';

/** How a model approaches a task. */
export const policies = ['expert', 'newcomer', 'sloppy'] as const;
export type Policy = (typeof policies)[number];

/** A call of a tool, and the name in its answer whose id the calls after it write as `{0}`, `{1}`, …. */
export type FindingToolUse = Extract<Move, { tool: string }> & { finds?: string };

/** A step as calls of tools, of which the last performs it; none if there is no tool for it. */
export type Dialect = (step: AgentStep, values: AgentStep['right']) => FindingToolUse[];

/** The faults that a policy causes. */
export interface ToolFaults {
	/** The next write succeeds, but its answer is lost. */
	loseNextAnswer(): Promise<void>;
	heal(): Promise<void>;
}

interface Attempt {
	values: AgentStep['right'];
	/** Whether it follows from the answer to the previous attempt. */
	isLearned?: boolean;
	isLost?: boolean;
}

function attemptsOf(policy: Policy, { tool, right, guess }: AgentStep): Attempt[] {
	const first = guess && policy !== 'expert' ? [{ values: guess }] : [];
	if (policy === 'expert') return [{ values: right }];
	if (policy === 'newcomer') return [...first, { values: right, isLearned: first.length > 0 }];
	const isWrite = tool === 'change' || tool === 'act';
	return [{ values: {} }, ...first, ...(isWrite ? [{ values: right, isLost: true }] : []), { values: right }];
}

/** The result of a task, as seen by the model. */
export interface Played {
	calls: number;
	/** Characters of the answers. */
	characters: number;
	/** Whether each answer said what it should. */
	hasSeen: boolean;
	answers: string[];
}

/** Plays a task: yields calls and receives the answers. */
export async function* play(task: AgentTask, policy: Policy, dialect: Dialect, network: ToolFaults, played: Played): AsyncGenerator<Move, void, string> {
	for (const step of task.steps) {
		let answer = '';
		for (const { values, isLearned, isLost } of attemptsOf(policy, step)) {
			if (isLearned && answer !== '' && step.learns?.test(answer) !== true) {
				played.hasSeen = false;
				return;
			}
			const moves = dialect(step, values);
			if (moves.length === 0) continue;
			const ids: string[] = [];
			for (const [i, { tool: called, input, finds }] of moves.entries()) {
				const isWrite = i === moves.length - 1;
				if (isLost && isWrite) await network.loseNextAnswer();
				const filled = JSON.stringify(input).replace(/\{(\d)\}/g, (_, place: string) => ids[Number(place)]!);
				answer = yield { tool: called, input: JSON.parse(filled) as object };
				if (isLost && isWrite) await network.heal();
				played.calls += 1;
				played.characters += answer.length;
				played.answers.push(answer);
				if (finds === undefined) continue;
				const found = idsOf(answer, finds);
				// A model that finds none, or several, stops and asks.
				if (found.length !== 1) break;
				ids.push(found[0]!);
			}
			if (!isRefused(answer) || (step.isTrap && values === step.right)) break;
		}
		// A trap is passed if nothing is written, whatever the answer says.
		if (step.sees && !step.isTrap && !step.sees.test(answer)) played.hasSeen = false;
	}
}

/** The ids of the records with a name, anywhere in an answer. */
function idsOf(answer: unknown, name: string): string[] {
	if (typeof answer === 'string') return /^[[{]/.test(answer) ? idsOf(JSON.parse(answer), name) : [];
	if (typeof answer !== 'object' || answer === null) return [];
	const inner = Object.values(answer).flatMap((value) => idsOf(value, name));
	return 'id' in answer && 'name' in answer && answer.name === name ? [String(answer.id), ...inner] : inner;
}

/** Whether the answer says that nothing was done, as the node or the service puts it; AI Agent 2 passes no error on. */
const isRefused = (answer: string): boolean => answer === '' || /"error\\*":|"status\\*":[45]\d\d\b|^"?There was an error|No execution data|isError/.test(answer);
