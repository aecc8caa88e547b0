import type { IRun, ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../api/http/clock';

/** n8n 2.41 stores static data in `emit` only. */
const storedMessage =
	'CRM Platform: the position was stored. No execution was started, and nothing has failed.';

const soughtMessage =
	'CRM Platform: the position is being looked for. No execution was started, and nothing has failed.';

/** Milliseconds; n8n before 2.35 does not answer for an execution that it could not write. */
const maxAnswerLength = 3_000;

/**
 * Has n8n store static data without starting anything.
 *
 * @param onNotStored called where n8n could not, as its database is away; n8n before 2.35 does not tell
 */
export function storeOnly(n8n: ITriggerFunctions, onNotStored: () => void = () => undefined): void {
	emitUnwritable(n8n, storedMessage).catch((error: Error) => {
		if (!error.message.includes(storedMessage)) onNotStored();
	});
}

/**
 * Whether n8n has an execution with this key. n8n inserts the row with the key first, which fails if
 * there is one; then it writes the items, which fails if there is none, and takes the row back
 * (execution-persistence, create).
 */
export async function hasExecution(n8n: ITriggerFunctions, key: string, clock: Clock): Promise<boolean> {
	return (await answerFor(n8n, soughtMessage, clock, key)) === 'known';
}

/** Whether this n8n tells what it could not start, as it does since 2.35. */
export async function tellsFailures(n8n: ITriggerFunctions, clock: Clock): Promise<boolean> {
	return (await answerFor(n8n, soughtMessage, clock)) === 'refused';
}

async function answerFor(
	n8n: ITriggerFunctions,
	reason: string,
	clock: Clock,
	key?: string,
): Promise<'known' | 'refused' | 'none'> {
	const answered = new AbortController();
	const answer = emitUnwritable(n8n, reason, key).then(
		() => 'known' as const,
		() => 'refused' as const,
	);
	const late = clock.sleep(maxAnswerLength, answered.signal).then(
		() => 'none' as const,
		() => 'none' as const,
	);
	return await Promise.race([answer, late]).finally(() => answered.abort());
}

/** These items cannot be written down, so no execution comes of them; n8n notes the reason in its log. */
async function emitUnwritable(n8n: ITriggerFunctions, reason: string, key?: string): Promise<unknown> {
	const unwritable = {
		toJSON: () => {
			throw new Error(reason);
		},
	};
	const done = n8n.helpers.createDeferredPromise<IRun>();
	n8n.emit([[{ json: unwritable }]], undefined, done, key);
	return await done.promise;
}
