import { triggerKey } from './storedState';
import type { TriggerContext } from './triggerContext';

/** The running work of this process, by trigger. */
const underWay = new Map<string, Promise<unknown>>();

/** Serializes the work of each trigger, so that a check never undoes an unpublish, and two activations continue one another. */
export async function serialized<Result>(n8n: TriggerContext, work: () => Promise<Result>): Promise<Result> {
	// A test run has an address of its own.
	const name = `${triggerKey(n8n)} ${String(n8n.getWorkflow().active)}`;
	const turn = (underWay.get(name) ?? Promise.resolve()).catch(() => undefined).then(work);
	underWay.set(name, turn);
	return await turn.finally(() => {
		if (underWay.get(name) === turn) underWay.delete(name);
	});
}
