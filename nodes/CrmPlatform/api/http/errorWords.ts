import type { ProblemBody } from './problemBody';

export interface ErrorWords {
	message: string;
	advice: string;
}

/** What happened (empty where the service's own text suffices), and what to do. */
type Telling = readonly [happened: string, advice: string];

/**
 * One sentence on what happened and one on what to do: by the service's error code where the
 * contract names it, else by the HTTP status.
 *
 * @param said the service's own text
 */
export function describeError(status: number, body: ProblemBody, said = ''): ErrorWords {
	const [happened, advice] =
		wordsByCode.get(body.code ?? '')?.(body) ?? wordsByStatus(status) ?? refused(status, said);
	return { message: [happened, said].filter(Boolean).join(': '), advice };
}

/**
 * Why a connection failed and what to do.
 *
 * @param code of Node.js or OpenSSL, such as `ECONNREFUSED`
 */
export function connectionErrorWords(code: string): readonly [reason: string, advice: string] {
	return (
		connectionErrors.find(([codes]) => codes.test(code))?.[1] ?? [
			'the connection failed',
			'Check the base URL in the credential and the network between n8n and the service, then try again.',
		]
	);
}

const correct = 'Correct the values, then try again.';
const refreshed =
	'Correct it, then try again. If the node itself chose it, the service has changed: open the node, so that its fields are read anew.';

const byCode: Record<string, (body: ProblemBody) => Telling> = {
	invalid_parameter: () => ['The service does not accept one of the parameters', refreshed],
	unknown_parameter: () => ['The service does not know one of the parameters', refreshed],
	invalid_cursor: () => [
		'The list cannot be continued from this cursor',
		'A cursor belongs to its filters and order, and expires: start again without one.',
	],
	duplicate: ({ existing_id: id }) => [
		'Another record has this value already',
		`Use Create or Update to change ${id ?? 'that record'} instead.`,
	],
	ambiguous_match: () => [
		'More than one record has the value to match on',
		'Match on another field, or change or merge the records that share the value.',
	],
	in_use: () => [
		'The record is still in use',
		'Change the records that use it first, then try again.',
	],
	invalid_state_transition: ({ allowed }) => [
		'The record cannot change from its state to that one',
		allowed?.length ? `Possible now: ${allowed.join(', ')}.` : 'Look at its state, then choose another step.',
	],
	idempotency_in_progress: () => [
		'An earlier attempt at this write is still in progress',
		'The node has waited for it. Look at the record before you run the workflow again.',
	],
	idempotency_key_reused: () => [
		'An earlier attempt at this very item has written other values',
		'A retry has to send the same values, so it cannot contain ones that change each time (such as {{ $now }}); with Write Once Per, the same holds for items of the same value. Look at the record, then run the workflow again.',
	],
	insufficient_scope: ({ scope }) => [
		'The credential may not do this',
		scope === undefined
			? 'Give the credential the permission, then connect it again.'
			: `It lacks the scope ${scope}: add it to the credential, then connect it again.`,
	],
	job_not_finished: () => [
		'The job is not finished yet',
		'Turn on Wait Until Done, or ask again later.',
	],
	results_expired: () => [
		'The results of the job are no longer kept',
		'Start the job again if they are still needed.',
	],
	version_sunset: () => [
		'The service has retired this part of its API',
		'Install the newest version of this node.',
	],
	version_mismatch: () => [
		'The record was changed by someone else meanwhile',
		'Read it again, then retry.',
	],
	webhook_not_active: () => [
		'The subscription is paused or disabled',
		'Set its status to active first.',
	],
	failed_dependency: () => [
		'Nothing was done, since another item of the same request failed',
		'Correct that item, then try again.',
	],
};

// A map, since a service may call its codes `constructor` or `__proto__`.
const wordsByCode = new Map(Object.entries(byCode));

function wordsByStatus(status: number): Telling | undefined {
	if (status >= 500) {
		return [
			`The service failed (${status})`,
			'Try again later; if the problem persists, give the request id to the service’s support.',
		];
	}
	if (status >= 300 && status < 400) {
		return [
			`The address redirects elsewhere (${status})`,
			'Enter the address it redirects to as the base URL in the credential.',
		];
	}
	return byStatus[status];
}

const byStatus: Record<number, Telling> = {
	401: [
		'The service did not accept the credential',
		'Check the API key: the platform’s settings list the valid ones under API and integrations.',
	],
	403: ['The credential may not do this', 'Ask an administrator of the account.'],
	404: [
		'The service found nothing there',
		'Check the id: the record may have been deleted, or is not for the credential’s user to see. If nothing works, check the base URL.',
	],
	405: [
		'The service does not offer this here',
		'Check the path and the method. If the node itself chose them, the service has changed: install the newest version of the node.',
	],
	408: ['The service did not get the whole request in time', 'Try again; if the problem persists, send less at once.'],
	409: ['The record is in conflict with another', 'Change it and retry.'],
	412: ['The record was changed by someone else meanwhile', 'Read it again, then retry.'],
	413: ['The values are too large for the service', 'Send less in one record.'],
	415: [
		'The service does not accept data in this form',
		'Check the base URL in the credential: something else may be answering there.',
	],
	429: [
		'The account’s rate limit is used up',
		'Run fewer requests at once, or ask for a larger plan.',
	],
	431: ['The request’s headers are too large', 'Check the credential: its key or token is too long.'],
};

function refused(status: number, said: string): Telling {
	return [said === '' ? `The service refused the request (${status})` : '', correct];
}

const connectionErrors: Array<[codes: RegExp, words: readonly [reason: string, advice: string]]> = [
	[
		/^(ENOTFOUND|EAI_AGAIN)$/,
		['there is no such host', 'Check the base URL in the credential for a typing mistake.'],
	],
	[
		/^ECONNREFUSED$/,
		[
			'nothing is listening there',
			'Check host and port of the base URL in the credential, and that the service is running.',
		],
	],
	[
		/^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/,
		[
			'it took too long to answer',
			'Try again later; if the problem persists, ask the service’s support.',
		],
	],
	[
		/CERT|SSL|TLS|ISSUER|UNABLE_TO_VERIFY|EPROTO/,
		[
			'its certificate is not trusted',
			'Check that the base URL names the right host. A private certificate authority has to be made known to n8n (NODE_EXTRA_CA_CERTS).',
		],
	],
];
