import type { IRun, ITriggerFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { getOrCreate } from '../base/maps';
import { processMemory } from '../base/processMemory';

/**
 * The progress of a trigger, in the workflow's static data. n8n 2.41 gives a trigger a copy of it when it registers it (computeTriggerDiff:
 * changed triggers only), and each store writes a whole copy, which would reset what other triggers have stored meanwhile. Therefore this
 * process remembers the newest state of every trigger, and each store writes all of them.
 */
export type StateKeeper = Pick<ITriggerFunctions, 'getInstanceId' | 'getNode' | 'getWorkflow' | 'getWorkflowStaticData'>;

/** Milliseconds after which a trigger has its progress stored, even if nothing has happened. */
export const maxTimeUnstored = 12 * 60 * 60_000;

const storedState = z.object({
	/** The owner: a copy of the workflow, in this n8n or another, carries the original's static data. */
	instance: z.string(),
	workflow: z.string(),
	/** Number of times a process has taken the trigger over. A superseded process has a lower one, however late it stores. */
	takeover: z.number().int(),
	/** Of two copies with the same takeover, the one with the higher revision is newer. */
	revision: z.number(),
	state: z.unknown(),
});

export type StateVersion = Pick<StoredState, 'takeover' | 'revision'>;

type StoredState = z.infer<typeof storedState>;

/** The newest states that this process knows, by workflow, then by the name of the state. */
const statesByWorkflow = processMemory(new Map<string, Map<string, StoredState>>());

/** The state that this trigger has stored last; undefined if there is none that can be read. */
export function readState<State>(n8n: StateKeeper, schema: z.ZodType<State>): State | undefined {
	const stored = newestStatesOf(n8n).get(nameOf(n8n));
	return stored === undefined ? undefined : schema.safeParse(structuredClone(stored.state)).data;
}

export function isNewestState(n8n: StateKeeper, version: StateVersion): boolean {
	const newest = newestStatesOf(n8n).get(nameOf(n8n));
	return newest === undefined || !isNewer(newest, version);
}

/**
 * Puts the state where n8n stores it: with the next `emit`, and after activation and deactivation.
 *
 * @param isTakeover whether this process takes the trigger over now: what another process stores from here on is older
 */
export function storeState(n8n: StateKeeper, state: object, { isTakeover = false } = {}): StateVersion {
	const states = newestStatesOf(n8n);
	const name = nameOf(n8n);
	const previous = states.get(name);
	const takeover = (previous?.takeover ?? 0) + (isTakeover ? 1 : 0);
	// The revision follows the clock, so that even a process that has missed revisions recognizes a later state as newer.
	const revision = Math.max((previous?.revision ?? 0) + 1, Date.now());
	states.set(name, { ...ownerOf(n8n), takeover, revision, state: plain(state) });
	const data = n8n.getWorkflowStaticData('global');
	for (const [stateName, newest] of states) {
		const stored = parseOwnState(n8n, data[stateName]);
		if (!stored || isNewer(newest, stored)) data[stateName] = plain(newest);
	}
	return { takeover, revision };
}

/** The reason that n8n logs: n8n 2.41 stores static data only in `emit`. */
export const notStarted = 'CRM Platform: the position was stored or compared. No execution was started, and nothing has failed.';

/**
 * Emits items that cannot be written, so that no execution starts; n8n stores static data and logs the reason.
 *
 * n8n inserts the row with the key first, which fails if there is one; then it writes the items, and takes the row back
 * (execution-persistence, create). Before 2.35, n8n does not settle an emission that it could not write.
 *
 * @returns whether n8n has an execution with the key
 */
export async function emitUnwritable(n8n: ITriggerFunctions, key?: string): Promise<'yes' | 'no' | 'no database'> {
	const unwritable = {
		toJSON: () => {
			throw new Error(notStarted);
		},
	};
	const done = n8n.helpers.createDeferredPromise<IRun>();
	try {
		n8n.emit([[{ json: unwritable }]], undefined, done, key);
		await done.promise;
		return 'yes';
	} catch (error) {
		return String(error).includes(notStarted) ? 'no' : 'no database';
	}
}

/** Has n8n store static data without starting anything. @returns whether its database was available; before 2.35, n8n may not say it */
export const storeOnly = async (n8n: ITriggerFunctions): Promise<boolean> => (await emitUnwritable(n8n)) !== 'no database';

const isNewer = (version: StateVersion, than: StateVersion): boolean =>
	version.takeover > than.takeover || (version.takeover === than.takeover && version.revision > than.revision);

/** The newest states of the workflow's triggers, including those in this copy of the static data. */
function newestStatesOf(n8n: StateKeeper): Map<string, StoredState> {
	const { instance, workflow } = ownerOf(n8n);
	const states = getOrCreate(statesByWorkflow, `${instance} ${workflow}`, () => new Map<string, StoredState>());
	for (const [name, value] of Object.entries(n8n.getWorkflowStaticData('global'))) {
		if (!/^crmPlatform\w*:/.test(name)) continue;
		const found = parseOwnState(n8n, value);
		const newest = states.get(name);
		if (found && (!newest || isNewer(found, newest))) states.set(name, plain(found));
	}
	return states;
}

const ownerOf = (n8n: StateKeeper) => ({ instance: n8n.getInstanceId(), workflow: String(n8n.getWorkflow().id) });

/** The name of a state. It contains the node's id; n8n's own node state uses the node's name, which may change. */
function nameOf(n8n: StateKeeper): string {
	const { type, id } = n8n.getNode();
	return `${type.slice(type.lastIndexOf('.') + 1)}:${id}`;
}

/** Reads a stored state; undefined if it belongs to another workflow or another n8n. */
function parseOwnState(n8n: StateKeeper, value: unknown): StoredState | undefined {
	const { instance, workflow } = ownerOf(n8n);
	const { data: found } = storedState.safeParse(value);
	return found?.instance === instance && found.workflow === workflow ? found : undefined;
}

/** Identifies a published trigger among all of this process. */
export const triggerKey = (n8n: StateKeeper): string => `${n8n.getInstanceId()} ${String(n8n.getWorkflow().id)} ${n8n.getNode().id}`;

/** The running work of this process, by trigger. */
const underWay = new Map<string, Promise<unknown>>();

/** Serializes the work of each trigger, so that a check never undoes an unpublish, and two activations continue one another. */
export async function serialized<Result>(n8n: StateKeeper, work: () => Promise<Result>): Promise<Result> {
	// A test run has an address of its own.
	const name = `${triggerKey(n8n)} ${String(n8n.getWorkflow().active)}`;
	const turn = (underWay.get(name) ?? Promise.resolve()).catch(() => undefined).then(work);
	underWay.set(name, turn);
	return await turn.finally(() => {
		if (underWay.get(name) === turn) underWay.delete(name);
	});
}

/** A copy without the proxies with which n8n observes static data. */
const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value ?? null)) as Value;
