/** Mutations without a visible effect, by file, as `npm test -- --mutate` prints them after the line number. */
export const equivalent: Readonly<Record<string, ReadonlySet<string>>> = {
	'matching.ts': new Set([
		// For the compiler: records without a key are neither indexed nor looked up, and each of these checks is enough.
		'if (key === undefined) continue; | ConditionalExpression → false',
		'const records = key === undefined ? [] : crm.find(field, key); | ConditionalExpression → false',
		'if (key === undefined || isToldApart(record)) continue; | ConditionalExpression → false',
		// The check saves a pass over the records.
		'if (shared.size === 0) continue; | ConditionalExpression → false',
	]),
	'requestQueue.ts': new Set([
		// A signal is aborted once.
		"signal?.addEventListener('abort', abort, { once: true }); | ObjectLiteral → {}",
		"signal?.addEventListener('abort', abort, { once: true }); | BooleanLiteral → false",
		// The timer wakes the queue a millisecond later.
		'let at = Math.min(now + maxSleep, this.nextTimeoutAt + gracePeriod + 1, this.rateLimit.nextChangeAt(now)); | ArithmeticOperator → this.nextTimeoutAt + gracePeriod - 1',
		// The check saves a search: a reserve only lowers the limit.
		'const entry = canSend({ reserve: 0 }) && this.waiting.take(canSend); | ConditionalExpression → true',
		// The check saves a timer: one that is replaced, or wakes the queue once more, changes nothing.
		'if (this.timer && this.timer.at <= at) return; | ConditionalExpression → false',
		'if (this.timer && this.timer.at <= at) return; | EqualityOperator → this.timer.at < at',
		'if (this.timer !== timer) return; | ConditionalExpression → false',
	]),
	'syncPlan.ts': new Set([
		// The check saves time: with one field, records without a duplicate key have one item at most.
		'const owners = context.matchLabels.length > 1 ? ownersOf(source, crm, duplicates) : undefined; | ConditionalExpression → true',
		'const owners = context.matchLabels.length > 1 ? ownersOf(source, crm, duplicates) : undefined; | EqualityOperator → context.matchLabels.length >= 1',
		// One item takes no record from another, as none does.
		'const items = owners?.get(match.id) ?? []; | ArrayDeclaration → ["Stryker was here"]',
		// No record has this id, or an undefined key.
		'keys.flatMap((key, field) => (key === undefined ? [] : crm.find(field, key).map(({ id }) => id))), | ConditionalExpression → false',
		'keys.flatMap((key, field) => (key === undefined ? [] : crm.find(field, key).map(({ id }) => id))), | ArrayDeclaration → ["Stryker was here"]',
	]),
};
