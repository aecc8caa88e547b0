import { findRecord, isAnsweredWith } from '../api/record';
import { versionOf } from '../writing/replace';
import type { RequestedWrite, ToolkitCall } from './toolkitCall';

export interface RefusedToken {
	/** Why the token of the call is not one for exactly these writes; empty if it has none. */
	refusal: string;
	newToken: string;
}

/** Services keep idempotency keys for a day: a token that lived longer could write twice. */
const lifetime = 20 * 60 * 60 * 1000;

/**
 * Checks the token of a call. It is not stored, so any process can check it: it consists of the time, the caller, and a
 * signature over both, the writes, their preview, and the state of the records.
 *
 * @returns the token, if the user has approved exactly these writes with it
 * @throws Error in the model's words for a token of another key or user: services keep idempotency keys for each caller
 */
export async function checkToken(
	call: ToolkitCall,
	writes: RequestedWrite[],
	preview: string,
	now: number,
): Promise<{ approved: string } | RefusedToken> {
	const caller = await callerOf(call);
	const approved = approvedContent(call, writes, preview);
	const tokenOf = (madeAt: string) => [madeAt, caller, call.api.sign(JSON.stringify([madeAt, caller, approved]))].join('.');
	const refused = (refusal: string): RefusedToken => ({ refusal, newToken: tokenOf(now.toString(36)) });
	// A model may end a sentence with the token.
	const token = call.args.text('token')?.replace(/\.$/, '');
	if (token === undefined) return refused('');
	const [madeAt = '', madeBy = '', ...others] = token.split('.');
	const createdAt = parseInt(madeAt, 36);
	if (others.length !== 1 || Number.isNaN(createdAt)) return refused('This is not a preview token.');
	if (now - createdAt > lifetime) return refused('The preview is too old.');
	if (madeBy !== caller) throw new Error(anotherCaller);
	return token === tokenOf(madeAt) ? { approved: token } : refused(otherPreview);
}

/** What a user approves, and where. */
function approvedContent({ n8n, api, recordType }: ToolkitCall, writes: RequestedWrite[], preview: string): unknown[] {
	const approvedWrites = writes.map(({ execution, target, write, description }) => [
		recordType.name,
		execution.operation.option.value,
		description.method,
		write.path,
		write.query ?? null,
		write.body ?? null,
		// A service without versions has its whole record compared.
		target ? (versionOf(target.record) ?? target.record) : null,
	]);
	const origin = [n8n.getInstanceId(), n8n.getWorkflow().id, n8n.getNode().name, api.viewer];
	return [origin, preview, approvedWrites];
}

const anotherCaller =
	'The credential has another API key or user than at the time of the preview, so the write may have been made already. ' +
	'Look at the records first; if it was not made, call again without the token.';

const otherPreview =
	'This token belongs to another preview: the values differ, or a record has changed since the preview, ' +
	'by someone else or by this write, which was already made with the same token.';

/**
 * Names whoever signs in: the credential's key, and for OAuth2 its user. If the service does not say who that is, another
 * access token counts as another caller.
 *
 * @throws NodeApiError
 */
async function callerOf({ n8n, api }: ToolkitCall): Promise<string> {
	const isUser = n8n.getNode().parameters.authentication === 'oAuth2';
	const user = isUser ? await findRecord(api, '/users/me').catch((error: unknown) => {
		if (isAnsweredWith(error, 403)) return undefined;
		throw error;
	}) : undefined;
	return api.sign(JSON.stringify(['caller', api.viewer, user?.id ?? (isUser ? api.secretDigest : '')])).slice(0, 8);
}
