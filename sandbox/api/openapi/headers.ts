export const headers = {
	'X-Request-Id': {
		description: 'Identifies the request.',
		schema: { type: 'string' },
	},
	'X-RateLimit-Remaining': {
		description: 'Requests left in this window.',
		schema: { type: 'integer', minimum: 0 },
	},
	'X-RateLimit-Reset': {
		description: 'Time the window resets, in seconds since 1970.',
		schema: { type: 'integer' },
	},
	'Retry-After': {
		description: 'Seconds to wait before retrying.',
		schema: { type: 'integer', minimum: 1 },
	},
	ETag: { description: 'The version of the record.', schema: { type: 'string' } },
	Location: { description: 'Path of the new record.', schema: { type: 'string' } },
	'Idempotent-Replayed': {
		description: 'true if the response was replayed for an idempotency key.',
		schema: { type: 'string', enum: ['true'] },
	},
	Allow: { description: 'The allowed methods.', schema: { type: 'string' } },
	'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
	'Cache-Control': { description: 'Forbids caching.', schema: { type: 'string' } },
};
