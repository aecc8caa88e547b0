import type { IRun, ITriggerFunctions } from 'n8n-workflow';

import { type Clock, within } from '../base/clock';

/** The reason that n8n logs: n8n 2.41 stores static data only in `emit`. */
export const notStarted = 'CRM Platform: the position was stored or compared. No execution was started, and nothing has failed.';

/** Milliseconds to wait for n8n's answer. Before 2.35, n8n does not answer for an execution that it could not write. */
const answerTimeout = 3_000;

/** Has n8n store static data without starting anything. @returns whether its database was available; before 2.35, n8n may not say it */
export const storeOnly = async (n8n: ITriggerFunctions): Promise<boolean> => await emitUnwritable(n8n).then(() => true, isAboutItems);

/** Whether n8n has an execution; `no answer` if n8n is slow or, before 2.35, has none or no database. */
export type Existence = boolean | 'no database' | 'no answer';

/**
 * Whether n8n has an execution with this key. n8n inserts the row with the key first, which fails if there is one; then it
 * writes the items, which fails if there is none, and takes the row back (execution-persistence, create).
 */
export async function hasExecution(n8n: ITriggerFunctions, key: string, clock: Clock): Promise<Existence> {
	const answer = emitUnwritable(n8n, key).then(() => true, (error: Error): Existence => (isAboutItems(error) ? false : 'no database'));
	return (await within(answerTimeout, answer, clock)) ?? 'no answer';
}

/** Whether n8n refused the items, and not for want of its database. */
const isAboutItems = ({ message }: Error): boolean => message.includes(notStarted);

/** Emits items that cannot be serialized, so that no execution starts; n8n logs the reason. */
async function emitUnwritable(n8n: ITriggerFunctions, key?: string): Promise<unknown> {
	const unwritable = {
		toJSON: () => {
			throw new Error(notStarted);
		},
	};
	const done = n8n.helpers.createDeferredPromise<IRun>();
	n8n.emit([[{ json: unwritable }]], undefined, done, key);
	return await done.promise;
}
