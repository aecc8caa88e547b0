/** What the bench's sandbox is asked by plain HTTP: the witness of what tools did. */
export interface Crm {
	post(path: string, body: object): Promise<CrmRecord>;
	get(path: string): Promise<CrmRecord>;
}

export type CrmRecord = Record<string, unknown> & { id: string };

type Values = Record<string, unknown>;

/** One thing that an agent has to do, in the words of an expert. */
export interface Step {
	tool: 'search' | 'get' | 'count' | 'change' | 'act';
	/** The arguments of the six tools. */
	right: Values;
	/** The first attempt of somebody who knows the tools only by what they say. */
	guess?: Values;
	/** What the refusal of the guess has to say, so that the right arguments follow from it. */
	learns?: RegExp;
	/** What the answer has to say. */
	sees?: RegExp;
	/** Whether the right end is that nothing is written: a trap. */
	isTrap?: boolean;
}

/** A task with records of its own, and the state that is right afterwards. */
export interface Task {
	name: string;
	steps: Step[];
	/** How often records are written. */
	writes: number;
	/** The records that may be written; those that are created have other ids. */
	targets: string[];
	/** Whether the records are as they should be. */
	isDone(): Promise<boolean>;
}

export type TaskMaker = (crm: Crm, mark: string) => Promise<Task>;

/** Whether a record has these values. */
export async function has(crm: Crm, path: string, values: Values): Promise<boolean> {
	const record = await crm.get(path);
	return Object.entries(values).every(([name, value]) => JSON.stringify(record[name]) === JSON.stringify(value));
}

/** Whether there is exactly one such record. */
export const isOne = async (crm: Crm, path: string): Promise<boolean> => Number((await crm.get(path))['total']) === 1;
