/** Mutations without a visible effect, by file, as `npm test -- --mutate` prints them after the line number. */
export const equivalent: Readonly<Record<string, ReadonlySet<string>>> = {
	'rateLimitHeaders.ts': new Set([
		// Equal ends are within the tolerance.
		'if (Math.abs(difference) > sameWindowTolerance) return difference > 0 ? reported : current; | EqualityOperator → difference >= 0',
	]),
	'requestQueue.ts': new Set([
		// A signal is aborted once.
		"signal?.addEventListener('abort', abort, { once: true }); | ObjectLiteral → {}",
		"signal?.addEventListener('abort', abort, { once: true }); | BooleanLiteral → false",
		// The timer wakes the queue a millisecond later.
		'let at = Math.min(now + maxSleep, this.nextTimeoutAt + gracePeriod + 1, this.rateLimit.nextChangeAt(now)); | ArithmeticOperator → this.nextTimeoutAt + gracePeriod - 1',
		// The check saves a search: none is overdue.
		'if (!isOverdue({ reserve: 1, timeoutAt: this.nextTimeoutAt })) return; | ConditionalExpression → false',
		// The check saves a timer: one that is replaced, or wakes the queue once more, changes nothing.
		'if (this.timer && this.timer.at <= at) return; | ConditionalExpression → false',
		'if (this.timer && this.timer.at <= at) return; | EqualityOperator → this.timer.at < at',
		'if (this.timer !== timer) return; | ConditionalExpression → false',
	]),
	'outcomes.ts': new Set([
		// The start is that of the group which the outcome closes or has wait.
		'if (!execution || execution.lastStartNumber >= startNumber) return entry; | EqualityOperator → execution.lastStartNumber > startNumber',
	]),
	'syncPlan.ts': new Set([
		// The check saves time: a pass over the items.
		'if (ids.size === 0) continue; | ConditionalExpression → false',
		// Either case makes texts equal in any case.
		'return key === undefined ? [] : [key.toLowerCase(), `loosely ${looseText(key)}`]; | MethodExpression → key.toUpperCase()',
		// No record has this id.
		'for (const recordId of forms.flatMap((form) => ids.get(form) ?? [])) { | ArrayDeclaration → ["Stryker was here"]',
		// Equal versions have returned before.
		"if (seen !== undefined && seen > version) return { ...base, action: 'conflict', reason: unknownVersion(seen, version) }; | EqualityOperator → seen >= version",
		// For the compiler: nothing is greater than undefined.
		"if (seen !== undefined && seen > version) return { ...base, action: 'conflict', reason: unknownVersion(seen, version) }; | ConditionalExpression → true",
	]),
};
