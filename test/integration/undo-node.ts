import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { run } from './n8n.ts';
import type { TestSandbox } from './sandbox.ts';

/** What an undo gave, and what it tells the user. */
export interface UndoRun {
	items: IDataObject[];
	hints: string[];
}

let executions = 0;
let runs = 0;

/** Executions that change something, and undos of them. */
export const undoing = (sandbox: TestSandbox) => ({
	/** Runs the node as part of an execution. */
	as: async (executionId: string, parameters: INodeParameters, items: IDataObject[] = [{}]) =>
		await run({ credential: sandbox.credential, parameters, executionId, items, runIndex: ++runs }),

	async undo(execution: string, more: IDataObject = {}, executionId = `undo-${++executions}`): Promise<UndoRun> {
		const parameters = { resource: 'change', operation: 'undo', preview: false, undoOf: 'execution', undoId: execution, since: '', options: {}, ...more };
		const { items, hints } = await run({ credential: sandbox.credential, parameters: parameters, executionId });
		return { items: items.map(({ json }) => json), hints };
	},

	results: ({ items }: UndoRun) => items.map(({ result }) => result),

	/** Creates a record as somebody else. */
	async add(collection: string, body: IDataObject): Promise<IDataObject & { id: string }> {
		const created = await sandbox.call('POST', `/v1/${collection}`, body);
		if (created.status !== 201) throw new Error(JSON.stringify(created.body));
		return created.body as IDataObject & { id: string };
	},

	async record(collection: string, id: string): Promise<IDataObject | undefined> {
		const { status, body } = await sandbox.call('GET', `/v1/${collection}/${id}`);
		return status === 200 ? body : undefined;
	},

	/** The requests that may have changed something. */
	writes: async () => (await sandbox.requests()).filter(({ method }) => method !== 'GET'),
});
