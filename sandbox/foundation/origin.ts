/** The request that caused a change, as Stripe's events name it. */
export interface RequestOrigin {
	/** The value of its X-Request-Id. */
	id: string;
	idempotency_key: string | null;
}
