import { getOrCreate } from '../../base/maps';

/**
 * From the most to the least urgent: a person waits for the request; other executions and triggers; executions
 * that have sent many requests.
 */
const priorities = ['awaited', 'ordinary', 'bulk'] as const;
export type Priority = (typeof priorities)[number];

export interface QueueEntry {
	priority: Priority;
	workflow: string;
	/** A request that the service has deferred goes before the others of its workflow. */
	wasDeferred: boolean;
}

/** Every tenth turn goes to a lower priority, alternating between the two, so that neither starves. */
const turnsPerLowerPriority = 10;

/** Orders entries by priority, and within a priority round-robin by workflow. */
export class FairQueue<T extends QueueEntry> {
	private readonly levels = priorities.map((priority) => ({ priority, workflows: new Map<string, T[]>() }));
	private turns = 0;

	get isEmpty(): boolean {
		return this.levels.every(({ workflows }) => workflows.size === 0);
	}

	countOtherWorkflows(workflow: string): number {
		const waiting = new Set(this.levels.flatMap(({ workflows }) => [...workflows.keys()]));
		waiting.delete(workflow);
		return waiting.size;
	}

	add(entry: T): void {
		const workflows = this.workflowsOf(entry);
		const entries = getOrCreate(workflows, entry.workflow, () => []);
		if (entry.wasDeferred) entries.unshift(entry);
		else entries.push(entry);
	}

	/** Removes and returns the next entry that satisfies the condition. */
	take(condition: (entry: T) => boolean = () => true): T | undefined {
		for (const { workflows } of this.levelsByTurn()) {
			for (const [workflow, entries] of workflows) {
				const [entry] = entries;
				if (!entry || !condition(entry)) continue;
				this.turns += 1;
				entries.shift();
				// A Map keeps insertion order, so re-inserting a workflow moves it behind the others.
				workflows.delete(workflow);
				if (entries.length > 0) workflows.set(workflow, entries);
				return entry;
			}
		}
		return undefined;
	}

	private levelsByTurn() {
		const turn = this.turns + 1;
		if (turn % turnsPerLowerPriority !== 0) return this.levels;
		const [, ...lower] = this.levels;
		if (turn % (2 * turnsPerLowerPriority) !== 0) lower.reverse();
		return [...lower, ...this.levels];
	}

	/** Removes and returns all entries that satisfy the condition. */
	removeAll(condition: (entry: T) => boolean): T[] {
		const removed = new Set(this.all().filter(condition));
		for (const { workflows } of removed.size > 0 ? this.levels : []) {
			for (const [workflow, entries] of workflows) {
				const others = entries.filter((entry) => !removed.has(entry));
				if (others.length > 0) workflows.set(workflow, others);
				else workflows.delete(workflow);
			}
		}
		return [...removed];
	}

	all(): T[] {
		return this.levels.flatMap(({ workflows }) => [...workflows.values()].flat());
	}

	private workflowsOf({ priority }: QueueEntry): Map<string, T[]> {
		return this.levels.find((level) => level.priority === priority)!.workflows;
	}
}
