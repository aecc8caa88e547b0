/**
 * The modules that decide what is written, sent or told, and the tests that have to notice when one of
 * them decides otherwise. A group is run by itself, so that a change in one asks for a few minutes only.
 */
export interface Group {
	name: string;
	/** Files whose every decision is changed, one after the other; globs from the root. */
	modules: string[];
	/** The beginnings of the test files' names, those of quick ones first. */
	tests: string[];
}

const api = 'nodes/CrmPlatform/api';
const changes = 'nodes/CrmPlatform/trigger/changes';

export const groups: Group[] = [
	{
		name: 'requests',
		modules: ['rateLimitHeaders', 'sharedPlan', 'rateLimitTracker', 'fairQueue', 'requestQueue', 'retry', 'idempotency'].map((name) => `${api}/http/${name}.ts`),
		tests: ['unit/rate-limit-', 'unit/shared-plan', 'unit/fair-queue', 'unit/request-queue', 'unit/wrong-windows', 'unit/slow-requests', 'unit/waits', 'unit/leave-room', 'unit/retry', 'unit/idempotency', 'unit/sender', 'unit/once'],
	},
	{
		name: 'signature',
		modules: ['nodes/CrmPlatform/trigger/webhook/signature.ts'],
		tests: ['unit/signature'],
	},
	{
		name: 'sync',
		modules: ['nodes/CrmPlatform/sync/guards.ts', 'nodes/CrmPlatform/sync/syncPlan.ts', 'nodes/CrmPlatform/sync/matching.ts'],
		tests: ['unit/guards', 'unit/sync-', 'integration/sync-properties', 'integration/sync-attacks'],
	},
	{
		name: 'trigger',
		modules: [`${changes}/position.ts`, `${changes}/dispatcher.ts`, 'nodes/CrmPlatform/trigger/storedState.ts'],
		tests: ['unit/position', 'unit/lost-position', 'unit/late-commits', 'unit/newer-position', 'unit/starts', 'unit/first-starts', 'unit/poll-load', 'unit/poll-switches', 'unit/poll-histories', 'unit/poll-faults', 'unit/stored-state', 'unit/poll-model'],
	},
	{
		name: 'results',
		modules: [`${api}/batchResults.ts`],
		tests: ['unit/batch-results'],
	},
	{
		name: 'access',
		modules: ['sandbox/domain/access/authority.ts', 'sandbox/core/store/visibility/visibility.ts'],
		tests: ['sandbox/change-of-owner', 'sandbox/access', 'sandbox/visibility', 'sandbox/authority', 'sandbox/copies-of-users'],
	},
];
