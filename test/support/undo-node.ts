import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { AlteredService } from './altered-service.ts';
import { run } from './node-runs.ts';
import * as op from './parameters.ts';
import type { TestSandbox } from './sandbox.ts';

/** The output of an undo, and its hints. */
export interface UndoOutput {
	items: IDataObject[];
	hints: string[];
}

/** The result of each record, by its ID. */
export const resultsById = ({ items }: Pick<UndoOutput, 'items'>) =>
	Object.fromEntries(items.map(({ id, result }) => [String(id), result]));

/** The ID of the record that replaces a deleted one. */
export const newIdOf = ({ items }: Pick<UndoOutput, 'items'>, id: string): string => String(items.find((item) => item.id === id)!.new_id);

let executions = 0;
let runs = 0;

/** Runs executions that change something, and undoes them. */
export function undoing(sandbox: TestSandbox) {
	/** Runs the node as part of an execution. */
	const as = async (executionId: string, parameters: INodeParameters, items: IDataObject[] = [{}]) =>
		await run({ credential: sandbox.credential, parameters, executionId, items, runIndex: ++runs });

	return {
		as,

		/** Creates a record as part of an execution. */
		async createAs(executionId: string, recordType: string, fields: IDataObject): Promise<string> {
			const { items: [item] } = await as(executionId, op.create(recordType, fields));
			return String(item!.json.id);
		},

		async undo(execution: string, more: IDataObject = {}, executionId = `undo-${++executions}`): Promise<UndoOutput> {
			const parameters = {
				resource: 'change',
				operation: 'undo',
				preview: false,
				undoOf: 'execution',
				undoId: execution,
				since: '',
				options: {},
				...more,
			};
			const { items, hints } = await run({ credential: sandbox.credential, parameters, executionId });
			return { items: items.map(({ json }) => json), hints };
		},

		results: ({ items }: UndoOutput) => items.map(({ result }) => result),

		/** Creates a record as somebody else. */
		add: sandbox.create,

		async record(collection: string, id: string): Promise<IDataObject | undefined> {
			const { status, body } = await sandbox.call('GET', `/v1/${collection}/${id}`);
			return status === 200 ? body : undefined;
		},

		/** The contacts of this name. */
		living: async (lastName: string) => await sandbox.list(`contacts?last_name=${lastName}`),

		/** From now on, the log returns these events. */
		logShows: async (events: IDataObject[]) =>
			await sandbox.faults({
				path: '/v1/events',
				status: 200,
				contentType: 'application/json',
				body: JSON.stringify({ data: events, next_cursor: null, total: events.length }),
			}),

		writes: sandbox.writes,
	};
}

/** From now on, the log does not show new events. */
export async function stopLog(sandbox: TestSandbox, service: AlteredService, answer?: (text: string) => string): Promise<void> {
	const [newest] = await sandbox.list<{ sequence: number }>('events?sort=-sequence&limit=1');
	service.alter({
		request({ url }) {
			if (url.pathname !== '/v1/events') return;
			const limit = Number(url.searchParams.get('sequence[lte]') ?? Infinity);
			url.searchParams.set('sequence[lte]', String(Math.min(limit, newest!.sequence)));
		},
		...(answer && { answer }),
	});
}
