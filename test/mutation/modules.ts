/** The modules that decide what is written, sent or reported, and the tests that must notice when a decision changes. */
export interface Group {
	name: string;
	/** Files whose every decision is changed, one after the other; globs from the root. */
	modules: string[];
	/** The beginnings of the names of test files, quick ones first. */
	tests: string[];
}

const http = 'nodes/CrmPlatform/api/http';
const poll = 'nodes/CrmPlatform/trigger/poll';

export const groups: Group[] = [
	{ name: 'retry', modules: [`${http}/retry.ts`], tests: ['http/retry', 'http/waits'] },
	{ name: 'keys', modules: [`${http}/idempotency.ts`], tests: ['http/idempotency'] },
	{
		name: 'tracker',
		modules: [`${http}/rateLimitHeaders.ts`, `${http}/rateLimitTracker.ts`],
		tests: ['rate-limit-', 'request-queue', 'waits', 'leave-room'].map((name) => `http/${name}`),
	},
	{
		name: 'queue',
		modules: [`${http}/requestQueue.ts`],
		tests: ['request-queue', 'waits', 'leave-room'].map((name) => `http/${name}`),
	},
	{ name: 'signature', modules: ['nodes/CrmPlatform/trigger/webhook/signature.ts'], tests: ['triggers/webhook/receive'] },
	{
		name: 'changes',
		modules: ['fields/recordComparison', 'sync/syncPlan', 'sync/planChecks'].map((name) => `nodes/CrmPlatform/${name}.ts`),
		tests: ['sync/plan', 'sync/reconcile', 'values/same'],
	},
	{ name: 'condition', modules: ['nodes/CrmPlatform/fields/condition.ts'], tests: ['values/same'] },
	{
		name: 'ledger',
		modules: ['ledger', 'outcomes'].map((name) => `${poll}/${name}.ts`),
		tests: ['ledger', 'starts'].map((name) => `triggers/poll/${name}`),
	},
	{
		name: 'n8nExecutions',
		modules: [`${poll}/n8nExecutions.ts`],
		tests: ['starts', 'poll-histories'].map((name) => `triggers/poll/${name}`),
	},
	{
		name: 'position',
		modules: [`${poll}/position.ts`],
		tests: ['ledger', 'poll-load', 'poll-histories', 'poll-faults'].map((name) => `triggers/poll/${name}`),
	},
	{
		name: 'loading',
		modules: [`${poll}/loading.ts`],
		tests: ['poll-load', 'poll-switches', 'poll-faults', 'poll-model'].map((name) => `triggers/poll/${name}`),
	},
	{
		name: 'trigger',
		modules: [`${poll}/trigger.ts`],
		tests: ['poll-rounds', 'starts', 'poll-switches', 'poll-faults', 'poll-histories', 'poll-model'].map((name) => `triggers/poll/${name}`),
	},
	{
		name: 'groupReader',
		modules: [`${poll}/groupReader.ts`],
		tests: ['poll-rounds', 'poll-faults', 'poll-histories', 'poll-model'].map((name) => `triggers/poll/${name}`),
	},
];
