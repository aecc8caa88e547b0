/** Calls the sandbox directly, to see what the tools did. */
export interface Crm {
	post(path: string, body: object): Promise<CrmRecord>;
	get(path: string): Promise<CrmRecord>;
}

export type CrmRecord = Record<string, unknown> & { id: string };

type Values = Record<string, unknown>;

/** One step of a task, as an expert would put it. */
export interface AgentStep {
	tool: 'search' | 'get' | 'count' | 'change' | 'act';
	/** The arguments of the six tools. */
	right: Values;
	/** The first attempt of a model that knows the tools only by their descriptions. */
	guess?: Values;
	/** What the refusal of the guess must say, so that the right arguments follow. */
	learns?: RegExp;
	/** What the answer must say. */
	sees?: RegExp;
	/** Whether it is a trap, in which nothing must be written. */
	isTrap?: boolean;
}

/** A task with its own records, and their right state afterwards. */
export interface AgentTask {
	name: string;
	steps: AgentStep[];
	/** How often records are written. */
	writes: number;
	/** The records that may be written; those that are created have other ids. */
	targets: string[];
	/** Whether the records are as they should be. */
	isDone(): Promise<boolean>;
}

export type TaskMaker = (crm: Crm, mark: string) => Promise<AgentTask>;

/** Whether a record has these values. */
export async function has(crm: Crm, path: string, values: Values): Promise<boolean> {
	const record = await crm.get(path);
	return Object.entries(values).every(([name, value]) => JSON.stringify(record[name]) === JSON.stringify(value));
}

/** Whether there is exactly one such record. */
export const isOne = async (crm: Crm, path: string): Promise<boolean> => Number((await crm.get(path))['total']) === 1;
