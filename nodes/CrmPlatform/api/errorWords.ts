import type { ProblemBody } from './problemBody';

export interface Words {
	message: string;
	advice: string;
}

/** One sentence of what happened and one of what to do, for each error the contract names. */
export function inWords(status: number, body: ProblemBody, said = ''): Words {
	const tell = (message: string, advice: string): Words => ({ message: join(message, said), advice });
	switch (body.code) {
		case 'duplicate':
			return tell(
				'Another record has this value already',
				`Use Create or Update to change ${body.existing_id ?? 'that record'} instead.`,
			);
		case 'idempotency_key_reused':
			return tell(
				'An earlier try of this very item has written other values',
				'Values that change with every try (such as {{ $now }}) cannot be written by Retry On Fail. Look at the record, then run the workflow again.',
			);
		case 'insufficient_scope':
			return tell(
				'The credential may not do this',
				body.scope === undefined
					? 'Give the credential the permission, then connect it again.'
					: `It lacks the scope ${body.scope}: add it to the credential, then connect it again.`,
			);
		case 'version_mismatch':
			return tell('The record was changed by someone else meanwhile', 'Read it again, then retry.');
		case 'invalid_state_transition':
			return tell(
				'The record cannot go from its state to that one',
				body.allowed?.length ? `Possible now: ${body.allowed.join(', ')}.` : 'Choose another state.',
			);
	}
	return byStatus(status, tell, said);
}

function byStatus(
	status: number,
	tell: (message: string, advice: string) => Words,
	said: string,
): Words {
	if (status === 401) {
		return tell(
			'The service did not accept the credential',
			'Check the API key: the platform’s settings list the valid ones under API and integrations.',
		);
	}
	if (status === 403) {
		return tell('The credential may not do this', 'Ask an administrator of the account.');
	}
	if (status === 404) {
		return tell(
			'The service found nothing there',
			'Check the id: the record may have been deleted, or is not for the credential’s user to see. If nothing works, check the base URL.',
		);
	}
	if (status === 413) {
		return tell('The values are too large for the service', 'Send less in one record.');
	}
	if (status === 429) {
		return tell(
			'The account’s rate limit is used up',
			'Run fewer requests at once, or ask for a larger plan.',
		);
	}
	if (status >= 500) {
		return tell(
			`The service failed (${status})`,
			'It was tried several times. Try again later; if it stays, give the request id to the service’s support.',
		);
	}
	if (status >= 300 && status < 400) {
		return tell(
			`The address redirects elsewhere (${status})`,
			'Enter the address it redirects to as the base URL in the credential.',
		);
	}
	if (status === 409) return tell('The record is in conflict with another', 'Change it and retry.');
	return {
		message: said === '' ? `The service refused the request (${status})` : said,
		advice: 'Correct the values, then try again.',
	};
}

function join(message: string, said: string): string {
	return said === '' ? message : `${message}: ${said}`;
}
