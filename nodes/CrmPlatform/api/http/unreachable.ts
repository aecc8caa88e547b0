import type { Problem } from './problem';

/** The problem of a connection that was not made, broke or took too long. */
export function unreachableProblem(address: string, code: string): Problem {
	const [reason, description] = connectionReasons.find(([codes]) => codes.test(code))?.[1] ?? [
		'the connection failed',
		'Check the base URL in the credential and the network between n8n and the service, then try again.',
	];
	return {
		// The code is left to `details`: n8n replaces a message that contains one.
		message: `Could not reach ${address}: ${reason}`,
		description,
		details: { reason: code },
	};
}

const connectionReasons: Array<[RegExp, [reason: string, description: string]]> = [
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
		['it took too long to answer', 'Try again later; if it stays, ask the service’s support.'],
	],
	[
		/CERT|SSL|TLS|ISSUER|UNABLE_TO_VERIFY|EPROTO/,
		[
			'its certificate is not trusted',
			'Check that the base URL names the right host. A private certificate authority has to be made known to n8n (NODE_EXTRA_CA_CERTS).',
		],
	],
];
