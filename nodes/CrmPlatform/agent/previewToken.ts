import type { IDataObject } from 'n8n-workflow';

import { sha256 } from '../base/digest';
import { namedIds } from './namedIds';
import type { PlannedWrite } from './toolPreview';
import type { ToolRun } from './toolRun';

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
 * A token for these writes. It is not stored, so any process can check it: it consists of the time, the
 * versions of the records, and a signature over both, the writes and the account.
 */
export function tokenFor(run: ToolRun, writes: PlannedWrite[], now: number): string {
	const versions = writes.map(stateOf);
	const timestamp = now.toString(36);
	return [
		timestamp,
		versions.join('-'),
		...namedIds(writes.map(({ target }) => target)),
		signature(run, writes, timestamp, versions),
	].join('.');
}

/** The contents of a token made for exactly these writes; otherwise, why the token is invalid. */
export function checkedToken(run: ToolRun, writes: PlannedWrite[], token: string, now: number): Token | string {
	// A model may end a sentence with the token.
	const text = token.trim().replace(/\.$/, '');
	const parts = text.split('.');
	const [timestamp = '', joined = ''] = parts;
	const receivedSignature = parts.length > 2 ? parts.at(-1)! : '';
	const versions = joined.split('-');
	const createdAt = parseInt(timestamp, 36);
	if (!receivedSignature || parts.length > 4 || Number.isNaN(createdAt)) return 'This is not a preview token.';
	if (now - createdAt > lifetime) return 'The preview is too old.';
	if (signature(run, writes, timestamp, versions) !== receivedSignature) return 'This token belongs to a preview of different values.';
	return { createdAt, versions, text };
}

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

function signature({ n8n, api }: ToolRun, writes: PlannedWrite[], timestamp: string, versions: string[]): string {
	const signedWrites = writes.map(({ recordType, operation, readableValues, request: { method, path, query, body } }) => [
		recordType.name,
		operation.option.value,
		method,
		path,
		query ?? null,
		body ?? null,
		readableValues,
	]);
	const origin = [n8n.getInstanceId(), n8n.getWorkflow().id, n8n.getNode().name, api.view];
	return api.sign(JSON.stringify([origin, timestamp, versions, signedWrites]));
}
