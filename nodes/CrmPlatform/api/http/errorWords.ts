export interface Reason {
	/** RFC 6901 pointer into the body, such as `/address/country`. */
	pointer?: string;
	/** Name of a query parameter. */
	parameter?: string;
	code?: string;
	detail?: string;
}

/** The readable members of an error body: RFC 9457 with this API's members, or the text of another one. */
export interface ProblemBody {
	title?: string;
	/** What happened, from whichever member says it. */
	detail?: string;
	code?: string;
	request_id?: string;
	existing_id?: string;
	scope?: string;
	allowed?: string[];
	errors?: Reason[];
}

type Words = readonly [happened: string, advice: string];

/** Standard phrases of servers, which say no more than the status. */
const standardPhrases = [
	'bad request', 'unauthorized', 'forbidden', 'not found', 'method not allowed', 'conflict', 'gone', 'unprocessable entity',
	'unprocessable content', 'too many requests', 'internal server error', 'bad gateway', 'service unavailable', 'gateway timeout',
];

/**
 * One sentence on what happened and one on what to do: by the service's error code if it is known, otherwise by the HTTP
 * status. A sentence from the service replaces ours, since it is more specific, unless it is meant for programmers.
 */
export function describeError(status: number, body: ProblemBody, text = ''): { message: string; advice: string } {
	const [forPrograms = '', adviceByCode] = wordsByCode.get(body.code ?? '')?.(body) ?? [];
	const serviceText = standardPhrases.includes(text.toLowerCase().replace(/\.$/, '')) ? '' : text;
	const [happened, adviceByStatus] = wordsByStatus(status) ?? refusedRequest(status, serviceText);
	const isSentence = serviceText.trim().split(/\s+/).length >= 3 && status >= 400 && status < 500;
	const message = forPrograms || (isSentence ? serviceText : [happened, serviceText].filter(Boolean).join(': '));
	return { message, advice: adviceByCode ?? adviceByStatus };
}

/** A message with a period at the end, to be followed by another sentence; a service's message may already have one. */
export const asSentence = (message: string): string => (/[.!?…]$/.test(message) ? message : `${message}.`);

/** Whether a connection failed because a certificate is not trusted: a retry would fail, too. */
export const isUntrusted = (code: string): boolean => /CERT|ISSUER|UNABLE_TO_VERIFY/.test(code);

const noPermission = 'The credential does not have permission for this';
const correct = 'Correct the values and try again.';
const refreshed = 'Correct the value and try again. If it was picked from a list, reopen the node to reload the list.';

const wrongCredential = [
	'The CRM did not accept the credential',
	'Check the API key: the CRM’s settings list the valid ones under API and integrations.',
] as const;

const changedMeanwhile = ['The record was changed by someone else in the meantime', 'Read the record again, then retry.'] as const;

/**
 * What happened, in place of the service's text for programmers; empty if its text or the status says it. And what to do.
 * A map, since a service may call its codes `constructor` or `__proto__`.
 */
const wordsByCode = new Map(Object.entries<(body: ProblemBody) => Words>({
	invalid_parameter: () => ['', refreshed],
	unknown_parameter: () => ['', refreshed],
	invalid_cursor: () => [
		'This cursor is no longer valid',
		'A cursor expires and only works with the filters and order it was created with. Start again without a cursor.',
	],
	invalid_credentials: () => wrongCredential,
	token_expired: () => wrongCredential,
	duplicate: ({ existing_id: id, detail = '' }) => {
		const record = id === undefined || detail.includes(id) ? 'that record' : id;
		return ['', `To change ${record} instead, use Create or Update.`];
	},
	ambiguous_match: () => ['', 'Match on another field, or merge the records that share the value.'],
	in_use: () => ['', 'Update the records that use it first, then try again.'],
	invalid_state_transition: ({ allowed = [] }) => [
		'',
		allowed.length > 0
			? `Allowed from its current status: ${allowed.join(', ')}.`
			: 'Check the current status of the record and choose another action.',
	],
	idempotency_in_progress: () => [
		'An earlier attempt at this request is still in progress',
		'It did not finish while the node waited. Check the record before you run the workflow again.',
	],
	idempotency_key_reused: () => [
		'This item was already sent with different values',
		'A retry must send the same values, so it cannot contain values that change each time, such as {{ $now }}. ' +
			'The same applies to items with the same value of Write Once Per, and to a record that such an item created, if it was changed since. Check the record, then run the workflow again.',
	],
	insufficient_scope: ({ scope }) =>
		scope === undefined
			? ['', 'Add the permission to the credential, then reconnect it.']
			: [noPermission, `Add the scope ${scope} to the credential, then reconnect it.`],
	job_not_finished: () => ['', 'Try again once it has.'],
	results_expired: () => ['', 'Start the job again if they are still needed.'],
	version_sunset: () => ['', 'Update this node to the latest version.'],
	version_mismatch: () => changedMeanwhile,
	webhook_not_active: () => ['', 'Set the status of the webhook to active first.'],
	// The service's text numbers the items of the request, not those of the node.
	failed_dependency: () => ['Not processed because another item in the same request failed', 'Correct that item and try again.'],
}));

function wordsByStatus(status: number): Words | undefined {
	const persists = 'Try again later. If the problem persists, contact the CRM’s support with the request ID.';
	if (status >= 500) return [`The CRM failed (${status})`, persists];
	const redirects = 'In the credential, set the base URL to the one that it redirects to.';
	if (status >= 300 && status < 400) return [`The URL redirects elsewhere (${status})`, redirects];
	return byStatus[status];
}

const byStatus: Record<number, Words> = {
	401: wrongCredential,
	403: [noPermission, 'Ask an administrator of the account for access.'],
	404: [
		'The record or path was not found',
		'Check the ID: the record may have been deleted, or the user of the credential may not see it. ' +
			'If every request fails like this, check the base URL in the credential.',
	],
	405: [
		'The CRM does not support this request',
		'Check the path and the method. If the node chose them, the CRM has changed: update the node to the latest version.',
	],
	408: ['The request took too long to arrive', 'Try again. If the problem persists, send less data at once.'],
	409: ['The record conflicts with another one', correct],
	412: changedMeanwhile,
	413: ['The values are too large for the CRM', 'Send less data per record.'],
	415: ['The CRM does not accept this data format', 'Check the base URL in the credential: it may belong to another service.'],
	429: ['The rate limit of the account was reached', 'Send fewer requests at once, or upgrade the plan of the account.'],
	431: ['The request headers are too large', 'Check the credential: its key or token is too long.'],
};

function refusedRequest(status: number, serviceText: string): Words {
	const advice = [400, 422].includes(status) ? correct : 'If the reason is unclear, contact the CRM’s support with the request ID.';
	return [serviceText === '' ? `The CRM refused the request (${status})` : '', advice];
}

/** Codes of Node.js and OpenSSL, why the connection failed, and what to do. The first that matches counts. */
export const connectionErrors: Array<[codes: RegExp, ...Words]> = [
	[/^(ENOTFOUND|EAI_AGAIN)$/, 'the host does not exist', 'Check the base URL in the credential for typos.'],
	[/^ECONNREFUSED$/, 'nothing is listening there', 'Check the host and port of the base URL, and that the CRM is running.'],
	[
		/^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/, 'it took too long to respond',
		'Try again later. If the problem persists, contact the CRM’s support.',
	],
	[
		/^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG))$/, 'it does not respond over HTTPS',
		'Check the port of the base URL. If the CRM has no HTTPS there, begin the base URL with http://.',
	],
	[
		/CERT|SSL|TLS|ISSUER|UNABLE_TO_VERIFY/, 'its certificate is not trusted',
		'Check the host of the base URL. To trust a private certificate authority, set NODE_EXTRA_CA_CERTS in n8n.',
	],
	[/^/, 'the connection failed', 'Check the base URL and the network between n8n and the CRM, then try again.'],
];
