import type { IDataObject } from 'n8n-workflow';

import { findRecord, isAnsweredWith } from '../api/record';
import { sha256 } from '../base/digest';
import { jsonText } from '../base/numbers';
import type { PlannedWrite, ToolRun } from './toolRun';

/** Services keep idempotency keys for a day: a token that lived longer could write twice. */
const lifetime = 20 * 60 * 60 * 1000;

/** Contents of a token: when it was made, and the versions of the records. */
interface Token {
	createdAt: number;
	versions: string[];
	/** The token without trailing punctuation. */
	text: string;
}

/**
 * A token for these writes. It is not stored, so any process can check it: it consists of the time, the versions of the
 * records, the ids behind names, the caller, and a signature over all of it, the writes and the account.
 */
export async function tokenFor(run: ToolRun, writes: PlannedWrite[], now: number): Promise<string> {
	const parts = [now.toString(36), writes.map(stateOf).join('-'), namedIds(writes), await callerOf(run)];
	return [...parts, signature(run, writes, parts)].join('.');
}

/**
 * The contents of a token made for exactly these writes; otherwise, why the token is invalid.
 *
 * @throws Error for a token of another key or user: services keep idempotency keys for each caller
 */
export async function checkedToken(run: ToolRun, writes: PlannedWrite[], token: string, now: number): Promise<Token | string> {
	const parts = tokenParts(token);
	const [timestamp = '', joined = '', , caller, receivedSignature] = parts;
	const createdAt = parseInt(timestamp, 36);
	if (parts.length !== 5 || Number.isNaN(createdAt)) return 'This is not a preview token.';
	if (now - createdAt > lifetime) return 'The preview is too old.';
	if (caller !== await callerOf(run)) throw new Error(anotherCaller);
	if (signature(run, writes, parts.slice(0, -1)) !== receivedSignature) return 'This token belongs to a preview of different values.';
	return { createdAt, versions: joined.split('-'), text: parts.join('.') };
}

const anotherCaller =
	'The credential has another API key or user than at the time of the preview, so the write may have been made already. Look at the records first; if it was not made, call again without the token.';

/** A model may end a sentence with the token. */
const tokenParts = (token: string): string[] => token.trim().replace(/\.$/, '').split('.');

/**
 * Names whoever signs in: the credential's key, and for OAuth2 its user. If the service does not say who that is, another
 * access token counts as another caller.
 *
 * @throws NodeApiError
 */
async function callerOf({ n8n, api }: ToolRun): Promise<string> {
	const isUser = n8n.getNode().parameters.authentication === 'oAuth2';
	const reading = async () => await findRecord(api, '/v1/users/me');
	const user = isUser
		? await reading().catch((error: unknown) => {
			if (isAnsweredWith(error, 403)) return undefined;
			throw error;
		})
		: undefined;
	return api.sign(JSON.stringify(['caller', api.view, user?.id ?? (isUser ? api.secretDigest : '')])).slice(0, 8);
}

/** The records that the model identified by name, since the write may change that name: a digest of each name, and the id. */
const namedIds = (writes: PlannedWrite[]): string =>
	writes
		.flatMap(({ target }) => (target && target.nameOrId !== target.id ? [nameDigest(target.nameOrId) + plainText(target.id)] : []))
		.join('-');

/** The id of the record that had this name when the token was made. The signature must confirm it. */
export function idBehindName(token: string | undefined, nameOrId: string): string | undefined {
	const entry = tokenParts(token ?? '')[2]?.split('-').find((candidate) => candidate.startsWith(nameDigest(nameOrId)));
	try {
		return entry && decodeURIComponent(entry.slice(nameDigest('').length));
	} catch {
		return undefined;
	}
}

const nameDigest = (name: string): string => sha256(name.trim().toLowerCase()).slice(0, 8);

const plainText = (id: string): string =>
	encodeURIComponent(id).replace(/[.~!'()*-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

/** Whether the record is as it was when the token was made. */
export const isUnchanged = (write: PlannedWrite, version: string | undefined): boolean => stateOf(write) === version;

/** The service's version of the record; a digest if the service has no versions; 0 if there is no record. */
function stateOf({ target }: PlannedWrite): string {
	if (!target) return '0';
	const { version } = target.record;
	const plain = typeof version === 'number' || typeof version === 'string' ? String(version) : '';
	return /^\w{1,20}$/.test(plain) ? plain : digest(target.record);
}

const digest = (record: IDataObject): string => `x${sha256(JSON.stringify(record)).slice(0, 10)}`;

/** Whether the version comes from the service, so that the service can compare it. */
export const isServiceVersion = (write: PlannedWrite, version: string): boolean =>
	String(write.target?.record.version) === version || /^\d+$/.test(version);

function signature({ n8n, api }: ToolRun, writes: PlannedWrite[], parts: string[]): string {
	const signedWrites = writes.map(({ recordType, operation, detail, readableValues, write, writes: { description } }) => [
		recordType.name,
		operation.option.value,
		description.method,
		write.path,
		write.query ?? null,
		write.body ?? null,
		detail ?? null,
		readableValues,
	]);
	const origin = [n8n.getInstanceId(), n8n.getWorkflow().id, n8n.getNode().name, api.view];
	return api.sign(jsonText([origin, parts, signedWrites]));
}
