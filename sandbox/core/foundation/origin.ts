/** The request that caused a change, in the format of Stripe's events. */
export interface RequestOrigin {
	/** The value of its X-Request-Id. */
	id: string;
	idempotency_key: string | null;
}
