import { sha256 } from '../../base/digest';
import { defined } from '../../base/ownMembers';

/** Hexadecimal digits (128 bits) that make a collision of two writes practically impossible. */
const minHashLength = 32;

/** Identifies a run of a node, all of whose writes share it. */
export interface RunIdentity {
	/** Id of the n8n installation: two installations may run copies of one workflow on one account. */
	instance: string;
	workflow: string;
	/** Id of the execution, or of the one it retries. */
	execution: string;
	/**
	 * When that execution began, in milliseconds, if n8n says so: an n8n that was restored from a backup, or runs on a copy of
	 * its database, counts executions from an earlier number again.
	 */
	started?: number;
	node: string;
	/** Distinguishes the runs of the node in this execution (loops, calls by an AI agent), and the steps of a run. */
	runKey: number | string;
	purpose?: Purpose;
}

/** Distinguishes a write from the others of its run. */
export interface WriteInRun {
	/** Indexes of the input items, followed by what distinguishes their writes; or what it creates for several items (`forSeveral`). */
	keyParts: ReadonlyArray<number | string>;
	/** Whether it creates what the next attempt finds and changes, which is another write. */
	isAddition?: boolean | undefined;
	/** Id of the deletion that the write undoes, or `mergeSubject`, if any. It identifies the write in any run. */
	keySubject?: string | undefined;
}

/** Identifies one logical write of a workflow. */
export type WriteIdentity = RunIdentity & WriteInRun;

/** What a write is a part of, if others need to know: Undo does not restore what an erasure removed. */
type Purpose = 'undo' | 'erase' | 'merge';

/** The format of keys that a service's description requires (rule 6). */
export interface KeyFormat {
	/** In characters; at least 64. */
	maxLength?: number;
	/** `format: uuid` (RFC 9562). */
	isUuid?: boolean;
}

/** Who made a change: one workflow of one n8n installation. */
export interface KeyOrigin {
	/** The first eight hexadecimal digits of the installation id's SHA-256. */
	instance: string;
	workflow: string;
	/** The execution's id; absent for a write that several executions share (`valueKey`). */
	execution?: string;
	started?: number;
	purpose?: Purpose;
}

/**
 * The idempotency key of one write. It is the same for every attempt, by Retry On Fail (which runs the node again with
 * the same execution and run) and by a retry of the whole execution, and different for every other write. Body, path and
 * method are deliberately left out: an attempt with changed values, or another description of the service, must not
 * create a second record.
 *
 * @returns at most 255 characters, beginning with the origin if the format has room for it
 */
export function idempotencyKey(identity: WriteIdentity, format: KeyFormat = {}): string {
	const { instance, workflow, execution, started, node, runKey, keyParts, isAddition, keySubject } = identity;
	const write = [instance, workflow, execution, started, node, runKey, keyParts, ...(isAddition ? ['addition'] : [])];
	const hash = keySubject === undefined ? hashOf(write) : hashOfSubject(keySubject);
	return keyOf(identity, hash, format);
}

/** The `hash` of all keys with this subject, such as those that re-create one deleted record: see `originOfKey`. */
export const subjectHash = (keySubject: string): string => hashOfSubject(keySubject).slice(0, minHashLength);

/** What the key of a merge names that deletes one record alone: with it, the log shows which record was kept. */
export const mergeSubject = (survivor: string, loser: string, execution: string): string => JSON.stringify([survivor, loser, execution]);

/**
 * The key of a write that is done once for a value, such as an order number, across all executions of the workflow.
 *
 * @returns as `idempotencyKey`
 */
export function valueKey(
	{ instance, workflow, node }: Pick<WriteIdentity, 'instance' | 'workflow' | 'node'>,
	value: string,
	format: KeyFormat = {},
): string {
	return keyOf({ instance, workflow }, hashOf([instance, workflow, 'once per', node, value]), format);
}

/**
 * Who created a key, by which a trigger recognizes its own changes and an undo those of an execution; undefined for the keys
 * of other programs and those without room for the origin. `hash` identifies the write, with as many digits as every key has.
 */
export function originOfKey(key: string): (KeyOrigin & { hash: string }) | undefined {
	const parts = /^n8n\/([0-9a-f]{8})\/([\w-]*)\/(?:([\w-]+)(?:\.([0-9a-z]{1,9}))?\/(?:(undo|erase|merge)\/)?)?([0-9a-f]{32,64})$/.exec(key);
	if (!parts) return undefined;
	const [, instance = '', workflow = '', execution, started, purpose, hash = ''] = parts;
	return defined({
		instance,
		workflow,
		execution,
		started: started === undefined ? undefined : parseInt(started, 36),
		purpose: purpose as Purpose | undefined,
		hash: hash.slice(0, minHashLength),
	});
}

/** The origin with which the keys of a workflow begin, as in `originOfKey`. @param instance id of the n8n installation */
export function originOf(instance: string, workflow: string, execution = ''): KeyOrigin {
	const short = sha256(instance).slice(0, 8);
	return { instance: short, workflow: keyPart(workflow), ...(execution !== '' && { execution: keyPart(execution) }) };
}

/** n8n's ids are letters and digits; imported ones may be any text. */
const keyPart = (id: string): string => (/^[\w-]{0,64}$/.test(id) ? id : sha256(id).slice(0, 16));

/** Who creates a key, with the ids of n8n. */
type KeyAuthor = Pick<WriteIdentity, 'instance' | 'workflow' | 'started' | 'purpose'> & { execution?: string };

const hashOf = (parts: unknown[]): string => sha256(JSON.stringify(parts));

const hashOfSubject = (keySubject: string): string => hashOf(['subject', keySubject]);

function keyOf(author: KeyAuthor, hash: string, { maxLength = 255, isUuid }: KeyFormat): string {
	// A UUID of version 8, in which the application may choose the bits (RFC 9562, section 5.8).
	if (isUuid) return [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join('-');
	const { instance, workflow, execution } = originOf(author.instance, author.workflow, author.execution);
	const began = author.started === undefined ? '' : `.${author.started.toString(36)}`;
	const write = execution === undefined ? '' : `${execution}${began}/${author.purpose ? `${author.purpose}/` : ''}`;
	const prefix = `n8n/${instance}/${workflow}/${write}`;
	const room = Math.min(maxLength, 255) - prefix.length;
	return room >= minHashLength ? prefix + hash.slice(0, room) : hash;
}
