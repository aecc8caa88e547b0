import type { INodeExecutionData } from 'n8n-workflow';

import type { Connection } from '../../../../nodes/CrmPlatform/api/connection';
import type { PollSettings } from '../../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import { SimulatedClock } from '../../../../bench/scale/clock.ts';
import { httpError } from '../../../http/http-error.ts';
import { choiceOf, now, type PollHistory } from './poll-histories.ts';
import { PollModelN8n } from './poll-n8n.ts';
import { PollModelService } from './poll-service.ts';

/** The usual choice of the tests that play a history by hand. */
export const quick: PollHistory = {
	doneWhen: 'started',
	afterCrash: 'startAgain',
	groupSize: 1,
	isDated: false,
	nodes: 1,
	courses: [],
	steps: [],
};

/** A service and n8n, for a test that plays a history by hand. */
export async function pollWorld() {
	const clock = new SimulatedClock();
	const service = new PollModelService(clock);
	const n8n = new PollModelN8n(clock, service);
	n8n.courses = [{ ms: 1, status: 'success' }];
	service.happen('c.z', 'r0');
	await clock.advance(60_000);

	const happen = (...records: string[]): void => records.forEach((record) => service.happen('a.x', record));
	const choose = (more: Partial<PollHistory> = {}): PollSettings => choiceOf({ ...quick, ...more }, ['a.x'], now);

	/** A choice that outputs each record as it is now. Some records answer with an error. */
	const chooseCurrent = (more: Partial<PollHistory>, codeOf: (record: string) => string | undefined): PollSettings => {
		service.api = {
			describeEvents: async () => ({ types: [{ type: 'a.x', collection: '/as' }] }),
			send: async ({ path }: { path: string }) => {
				const id = path.split('/').at(-1)!;
				const httpCode = codeOf(id);
				if (httpCode) throw httpError(httpCode);
				return { body: { id } };
			},
		} as unknown as Partial<Connection>;
		const choice = choose(more);
		choice.events.output.content = 'current';
		return choice;
	};

	const publish = async (choice: PollSettings): Promise<void> => {
		await n8n.publish('one', choice);
		await clock.advance(60_000);
	};

	/** What was started, in order. */
	const started = () => n8n.allRows.map(({ ids }) => ids.join());
	const messages = () => n8n.reports.map(({ message }) => message);

	return { clock, service, n8n, happen, choose, chooseCurrent, publish, started, messages };
}

/** Whether items cannot be written: the trigger uses them to look for an execution, or to have n8n store its data. */
export function isUnwritable(items: INodeExecutionData[]): boolean {
	try {
		JSON.stringify(items);
		return false;
	} catch {
		return true;
	}
}
