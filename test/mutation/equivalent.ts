/** Mutations without a visible effect, by file, as `npm run mutate` prints them after the line number. */
export const equivalent: Readonly<Record<string, ReadonlySet<string>>> = {
	'batchResults.ts': new Set([
		// An unreadable answer belongs to no item, and then no answer has its item from the order.
		'const rawAnswers: unknown[] = isObject(body) && Array.isArray(body.results) ? body.results : []; | ArrayDeclaration → ["Stryker was here"]',
		// For the compiler: no list of items includes undefined.
		'if (index !== undefined && itemsWithId.includes(index)) return [[index, answer]]; | ConditionalExpression → true',
	]),
	'requestQueue.ts': new Set([
		// A signal is aborted once.
		"request.signal?.addEventListener('abort', onAbort, { once: true }); | ObjectLiteral → {}",
		"request.signal?.addEventListener('abort', onAbort, { once: true }); | BooleanLiteral → false",
		// The timer wakes the queue a millisecond later.
		'if (slot.expiresAt <= now) this.slots.delete(slot); | EqualityOperator → slot.expiresAt < now',
		'let at = Math.min(now + maxSleep, this.nextTimeoutAt + gracePeriod + 1, this.rateLimit.nextIncreaseAt(now)); | ArithmeticOperator → this.nextTimeoutAt + gracePeriod - 1',
		// The check saves a search: a reserve only lowers the limit.
		'const entry = inFlight < this.rateLimit.maxInFlight(now) && this.waiting.take(canSend); | ConditionalExpression → true',
		'const entry = inFlight < this.rateLimit.maxInFlight(now) && this.waiting.take(canSend); | EqualityOperator → inFlight <= this.rateLimit.maxInFlight(now)',
		// The check saves a timer: one that is replaced, or wakes the queue once more, changes nothing.
		'if (this.timer && this.timer.at <= at) return; | ConditionalExpression → false',
		'if (this.timer && this.timer.at <= at) return; | EqualityOperator → this.timer.at < at',
		'if (this.timer !== timer) return; | ConditionalExpression → false',
	]),
};
