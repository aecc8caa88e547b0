import type { Move } from '../../demo/scripted-model.ts';
import type { Step, Task } from './task.ts';

/** How a model goes about a task. */
export const policies = ['expert', 'newcomer', 'sloppy'] as const;
export type Policy = (typeof policies)[number];

/** A step as a call of tools; undefined where there is no tool for it. */
export type Dialect = (step: Step, values: Step['right']) => Move | undefined;

/** The faults that a policy brings about. */
export interface Network {
	/** The next write is done, and its answer lost. */
	loseNextAnswer(): Promise<void>;
	heal(): Promise<void>;
}

interface Attempt {
	values: Step['right'];
	/** Whether it follows from what the attempt before was answered. */
	isLearned?: boolean;
	isLost?: boolean;
}

function attemptsOf(policy: Policy, { tool, right, guess }: Step): Attempt[] {
	const first = guess && policy !== 'expert' ? [{ values: guess }] : [];
	if (policy === 'expert') return [{ values: right }];
	if (policy === 'newcomer') return [...first, { values: right, isLearned: first.length > 0 }];
	const isWrite = tool === 'change' || tool === 'act';
	return [{ values: {} }, ...first, ...(isWrite ? [{ values: right, isLost: true }] : []), { values: right }];
}

/** What became of a task, as the model has seen it. */
export interface Played {
	calls: number;
	/** Characters of the answers. */
	characters: number;
	/** Whether each answer said what it had to. */
	hasSeen: boolean;
	answers: string[];
}

/** Plays a task: yields calls, and is given the answers. */
export async function* play(task: Task, policy: Policy, dialect: Dialect, network: Network, played: Played): AsyncGenerator<Move, void, string> {
	for (const step of task.steps) {
		let answer = '';
		for (const { values, isLearned, isLost } of attemptsOf(policy, step)) {
			if (isLearned && answer !== '' && step.learns?.test(answer) !== true) {
				played.hasSeen = false;
				return;
			}
			const move = dialect(step, values);
			if (!move) continue;
			if (isLost) await network.loseNextAnswer();
			answer = yield move;
			if (isLost) await network.heal();
			played.calls += 1;
			played.characters += answer.length;
			played.answers.push(answer);
			if (!isRefused(answer) || (step.isTrap && values === step.right)) break;
		}
		// A trap is passed where nothing is written, whatever the answer says.
		if (step.sees && !step.isTrap && !step.sees.test(answer)) played.hasSeen = false;
	}
}

/** Whether the answer says that nothing was done; AI Agent 2 hands on nothing of an error. */
const isRefused = (answer: string): boolean => answer === '' || /"error\\*":|^"?There was an error|No execution data|isError/.test(answer);
