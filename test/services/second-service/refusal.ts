import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** A refused request: the status and the body `{ error }` of the answer. */
export class Refusal extends Error {
	readonly status: ContentfulStatusCode;
	readonly reason: string;

	constructor(status: ContentfulStatusCode, reason: string, message: string) {
		super(message);
		this.status = status;
		this.reason = reason;
	}

	/** The body, deliberately not the problem document of RFC 9457. */
	get body() {
		return { error: { message: this.message, reason: this.reason } };
	}
}
