/**
 * The modules that decide what is written, sent or reported, and the tests that must notice when a decision
 * changes. Each group can be run by itself, within minutes.
 */
export interface Group {
	name: string;
	/** Files whose every decision is changed, one after the other; globs from the root. */
	modules: string[];
	/** The beginnings of the names of test files, quick ones first. */
	tests: string[];
}

const api = 'nodes/CrmPlatform/api';
const poll = 'nodes/CrmPlatform/trigger/poll';

export const groups: Group[] = [
	{
		name: 'requests',
		modules: ['rateLimitHeaders', 'rateLimitTracker', 'fairQueue', 'requestQueue', 'retry', 'idempotency'].map((name) => `${api}/http/${name}.ts`),
		tests: [
			'rate-limit-', 'fair-queue', 'request-queue', 'waits', 'leave-room', 'retry', 'idempotency', 'sender',
		].map((name) => `http/${name}`),
	},
	{
		name: 'signature',
		modules: ['nodes/CrmPlatform/trigger/webhook/signature.ts'],
		tests: ['triggers/webhook/signature'],
	},
	{
		name: 'sync',
		modules: ['syncPlan', 'matching'].map((name) => `nodes/CrmPlatform/sync/${name}.ts`),
		tests: ['sync/guard-limits', 'sync/plan', 'sync/changes-merge', 'sync/claims', 'sync/readRecords'],
	},
	{
		name: 'trigger',
		modules: [`${poll}/position.ts`, `${poll}/groupLedger.ts`, `${poll}/startLedger.ts`, `${poll}/dispatcher.ts`, 'nodes/CrmPlatform/trigger/storedState.ts'],
		tests: [
			...['position', 'dispatcher', 'starts', 'first-starts', 'start-ledger'],
			...['poll-load', 'poll-switches', 'poll-histories', 'poll-faults', 'stored-state', 'poll-model'],
		].map((name) => `triggers/poll/${name}`),
	},
	{
		name: 'results',
		modules: [`${api}/batchRequest.ts`],
		tests: ['description/service-rules'],
	},
	{
		name: 'access',
		modules: ['sandbox/domain/access/authority.ts', 'sandbox/core/store/visibility/visibility.ts'],
		tests: ['sandbox/access/authority', 'sandbox/access/access-to-records', 'sandbox/access/visibility', 'sandbox/access/change-of-owner'],
	},
];
