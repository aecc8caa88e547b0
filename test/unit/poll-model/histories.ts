import * as fc from 'fast-check';

import type { DoneWhen } from '../../../nodes/CrmPlatform/trigger/changes/choice';
import type { TriggerChoice } from '../../../nodes/CrmPlatform/trigger/changes/trigger';
import type { Course } from './n8n.ts';

/** What happens in a history: to the service, to n8n, or nothing for a while. */
export type Deed =
	| { does: 'happen'; count: number; type: string; record: number; late: number }
	| { does: 'wait'; ms: number }
	| { does: 'kill'; down: number }
	| { does: 'publish'; node: number }
	| { does: 'choose'; node: number; types: string[] }
	| { does: 'lag'; ms: number }
	| { does: 'fail'; count: number }
	| { does: 'loseStore' }
	| { does: 'oldStore'; back: number }
	| { does: 'databaseAway'; ms: number }
	| { does: 'prune' }
	| { does: 'restore'; without: number; grows: number }
	| { does: 'zone'; hours: number };

export interface History {
	doneWhen: DoneWhen;
	afterCrash: 'startAgain' | 'setAside';
	groupSize: number;
	/** Whether the trigger begins at a date. */
	isDated: boolean;
	nodes: number;
	courses: Course[];
	deeds: Deed[];
}

export const types = ['a.x', 'a.y', 'b.x'];

const deed: fc.Arbitrary<Deed> = fc.oneof(
	{
		weight: 8,
		arbitrary: fc.record({
			does: fc.constant('happen' as const),
			count: fc.integer({ min: 1, max: 6 }),
			type: fc.constantFrom(...types),
			record: fc.integer({ min: 0, max: 3 }),
			late: fc.constantFrom(0, 0, 0, 2_000, 8_000),
		}),
	},
	{ weight: 6, arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.constantFrom(50, 1_000, 5_000, 20_000, 60_000) }) },
	{ weight: 4, arbitrary: fc.record({ does: fc.constant('kill' as const), down: fc.constantFrom(0, 0, 1_000, 60_000) }) },
	{ weight: 2, arbitrary: fc.record({ does: fc.constant('publish' as const), node: fc.integer({ min: 0, max: 1 }) }) },
	{
		weight: 3,
		arbitrary: fc.record({
			does: fc.constant('choose' as const),
			node: fc.integer({ min: 0, max: 1 }),
			types: fc.constantFrom<string[]>(['a.x'], ['a.*'], ['a.x', 'b.x'], ['b.x']),
		}),
	},
	{ weight: 2, arbitrary: fc.record({ does: fc.constant('lag' as const), ms: fc.constantFrom(0, 2_500, 8_000) }) },
	{ weight: 1, arbitrary: fc.record({ does: fc.constant('fail' as const), count: fc.integer({ min: 1, max: 2 }) }) },
	{ weight: 1, arbitrary: fc.constant({ does: 'loseStore' as const }) },
	{ weight: 1, arbitrary: fc.record({ does: fc.constant('oldStore' as const), back: fc.integer({ min: 1, max: 8 }) }) },
	{ weight: 1, arbitrary: fc.record({ does: fc.constant('databaseAway' as const), ms: fc.constantFrom(1_000, 30_000) }) },
	{ weight: 1, arbitrary: fc.constant({ does: 'prune' as const }) },
	{
		weight: 1,
		arbitrary: fc.record({
			does: fc.constant('restore' as const),
			without: fc.integer({ min: 1, max: 10 }),
			grows: fc.integer({ min: 0, max: 20 }),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ does: fc.constant('zone' as const), hours: fc.integer({ min: -3, max: 3 }) }) },
);

export const histories: fc.Arbitrary<History> = fc.record({
	doneWhen: fc.constantFrom('started', 'ended', 'succeeded'),
	afterCrash: fc.constantFrom('startAgain', 'setAside'),
	groupSize: fc.constantFrom(1, 1, 3),
	isDated: fc.boolean(),
	nodes: fc.constantFrom(1, 1, 2),
	courses: fc.array(
		fc.record({ ms: fc.constantFrom(1, 100, 3_000, 20_000), status: fc.constantFrom('success', 'success', 'error') }),
		{ minLength: 1, maxLength: 4 },
	),
	deeds: fc.array(deed, { minLength: 1, maxLength: 25 }),
});

/** What the user chose for a trigger. */
export function choiceOf({ doneWhen, afterCrash, groupSize, isDated }: History, events: string[], since: string): TriggerChoice {
	const origin = { instance: 'instance', workflow: 'workflow' };
	return {
		source: 'events',
		start: isDated ? '2026-11-01T00:00:00' : '',
		since: isDated ? since : '',
		doneWhen,
		attempts: 3,
		afterCrash,
		atOnce: doneWhen === 'ended' ? 1 : 2,
		groupSize,
		interval: 15_000,
		events: { events, filter: { changedFields: [], equal: {} }, output: { shape: 'event', origin } },
	};
}
