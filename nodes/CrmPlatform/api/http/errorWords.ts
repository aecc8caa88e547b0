import type { ProblemBody } from './problemBody';

export interface ErrorWords {
	message: string;
	advice: string;
}

/** What happened (nothing where the service says it better), and what to do. */
type Telling = readonly [happened: string, advice: string];

/**
 * One sentence of what happened and one of what to do, for each error the contract names, and for
 * what services without such codes answer.
 *
 * @param said what the service itself says of it
 */
export function describeError(status: number, body: ProblemBody, said = ''): ErrorWords {
	const [happened, advice] =
		toldByCode[body.code ?? '']?.(body) ?? toldByStatus(status) ?? refused(status, said);
	return { message: [happened, said].filter(Boolean).join(': '), advice };
}

const correct = 'Correct the values, then try again.';
const refreshed =
	'Correct it, then try again. If the node itself chose it, the service has changed: open the node, so that its fields are read anew.';

const toldByCode: Record<string, (body: ProblemBody) => Telling> = {
	invalid_parameter: () => ['The service does not take one of the parameters', refreshed],
	unknown_parameter: () => ['The service does not know one of the parameters', refreshed],
	invalid_cursor: () => [
		'The list cannot go on from this cursor',
		'A cursor belongs to its filters and its order, and not for ever: begin again without one.',
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
		'The record is still needed by others',
		'Change those that use it first, then try again.',
	],
	invalid_state_transition: ({ allowed }) => [
		'The record cannot go from its state to that one',
		allowed?.length ? `Possible now: ${allowed.join(', ')}.` : 'Look at its state, then choose another step.',
	],
	idempotency_in_progress: () => [
		'An earlier try of this write is still under way',
		'It was waited for. Look at the record before you run the workflow again.',
	],
	idempotency_key_reused: () => [
		'An earlier try of this very item has written other values',
		'Values that change with every try (such as {{ $now }}) cannot be written by Retry On Fail. Look at the record, then run the workflow again.',
	],
	insufficient_scope: ({ scope }) => [
		'The credential may not do this',
		scope === undefined
			? 'Give the credential the permission, then connect it again.'
			: `It lacks the scope ${scope}: add it to the credential, then connect it again.`,
	],
	job_not_finished: () => [
		'The job is not done yet',
		'Turn on Wait Until Done, or ask again later.',
	],
	results_expired: () => [
		'The results of the job are no longer kept',
		'Start the job again if they are still needed.',
	],
	version_sunset: () => [
		'The service has retired what was asked for',
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

function toldByStatus(status: number): Telling | undefined {
	if (status >= 500) {
		return [
			`The service failed (${status})`,
			'Try again later; if it stays, give the request id to the service’s support.',
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
	408: ['The service did not get the whole request in time', 'Try again; send less at once if it stays.'],
	409: ['The record is in conflict with another', 'Change it and retry.'],
	413: ['The values are too large for the service', 'Send less in one record.'],
	415: [
		'The service does not take data in this form',
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
