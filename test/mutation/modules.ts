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
		].map((name) => `unit/${name}`),
	},
	{
		name: 'signature',
		modules: ['nodes/CrmPlatform/trigger/webhook/signature.ts'],
		tests: ['unit/signature'],
	},
	{
		name: 'sync',
		modules: ['nodes/CrmPlatform/sync/guards.ts', 'nodes/CrmPlatform/sync/syncPlan.ts', 'nodes/CrmPlatform/sync/crmIndex.ts'],
		tests: ['unit/guards', 'unit/crm-index', 'unit/sync-'],
	},
	{
		name: 'trigger',
		modules: [`${poll}/position.ts`, `${poll}/groupLedger.ts`, `${poll}/startLedger.ts`, `${poll}/dispatcher.ts`, 'nodes/CrmPlatform/trigger/storedState.ts'],
		tests: ['unit/position', 'unit/dispatcher', 'unit/unreadable-groups', 'unit/lost-position', 'unit/newer-position', 'unit/starts', 'unit/first-starts', 'unit/start-ledger', 'unit/poll-load', 'unit/poll-switches', 'unit/poll-histories', 'unit/poll-faults', 'unit/stored-state', 'unit/poll-model'],
	},
	{
		name: 'results',
		modules: [`${api}/batchResults.ts`],
		tests: ['unit/service-rules'],
	},
	{
		name: 'access',
		modules: ['sandbox/domain/access/authority.ts', 'sandbox/core/store/visibility/visibility.ts'],
		tests: ['sandbox/visibility-rules', 'sandbox/authority'],
	},
];
