import * as fc from 'fast-check';

import type { DoneWhen } from '../../../nodes/CrmPlatform/trigger/changes/eventChoice';
import type { TriggerChoice } from '../../../nodes/CrmPlatform/trigger/changes/readingLoop';
import type { Course } from './poll-n8n.ts';
import { readerOf, recordTypes } from './records.ts';
import type { Failure, PollModelService } from './poll-service.ts';

/** What happens in a history: to the service, to n8n, or nothing for a while. */
export type PollStep =
	| { does: 'happen'; count: number; type: string; record: number; late: number }
	| { does: 'wait'; ms: number }
	| { does: 'kill'; down: number }
	| { does: 'publish'; node: number }
	| { does: 'choose'; node: number; types: string[] }
	| { does: 'lag'; ms: number }
	| { does: 'fail'; count: number; failure?: Failure }
	| { does: 'write'; record: number; stage: string; late: number }
	| { does: 'expire' }
	| { does: 'scope'; node: number; stage: string }
	/** Another beginning: as many seconds back, now, or with records. */
	| { does: 'begin'; node: number; at: number | 'now' | 'first' | 'records' }
	| { does: 'set'; node: number; settings: Partial<PollSettings> }
	| { does: 'loseStore' }
	| { does: 'oldStore'; back: number }
	| { does: 'databaseAway'; ms: number }
	| { does: 'prune' }
	| { does: 'restore'; without: number; grows: number; givesAgain?: boolean }
	| { does: 'zone'; hours: number };

/** What a user may choose anew with each publish. */
export interface PollSettings {
	doneWhen: DoneWhen;
	groupSize: number;
	attempts?: number;
}

export interface PollHistory extends PollSettings {
	afterCrash: 'startAgain' | 'setAside';
	/** Whether it starts with records. */
	isCopy?: boolean;
	/** Whether the trigger begins at a date. */
	isDated: boolean;
	nodes: number;
	courses: Course[];
	deeds: PollStep[];
}

export const types = ['a.x', 'a.y', 'b.x'];

const deed: fc.Arbitrary<PollStep> = fc.oneof(
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
			types: fc.constantFrom<string[]>(['a.x'], ['a.*'], ['a.x', 'b.x'], ['b.x'], ['a.x', 'p.*'], ['p.created', 'p.updated']),
		}),
	},
	{ weight: 2, arbitrary: fc.record({ does: fc.constant('lag' as const), ms: fc.constantFrom(0, 2_500, 8_000) }) },
	{
		weight: 2,
		arbitrary: fc.record({
			does: fc.constant('fail' as const),
			count: fc.integer({ min: 1, max: 6 }),
			failure: fc.constantFrom<Failure>('none', 'cut', '400', '403', '404', '410', '422', '500'),
		}),
	},
	{
		weight: 8,
		arbitrary: fc.record({
			does: fc.constant('write' as const),
			record: fc.integer({ min: 0, max: 5 }),
			stage: fc.constantFrom('lead', 'lead', 'customer', ''),
			late: fc.constantFrom(0, 0, 0, 2_000),
		}),
	},
	{ weight: 1, arbitrary: fc.constant({ does: 'expire' as const }) },
	{
		weight: 1,
		arbitrary: fc.record({ does: fc.constant('scope' as const), node: fc.integer({ min: 0, max: 1 }), stage: fc.constantFrom('', 'lead') }),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			does: fc.constant('begin' as const),
			node: fc.integer({ min: 0, max: 1 }),
			at: fc.constantFrom(30, 300, 'now' as const, 'first' as const, 'records' as const),
		}),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			does: fc.constant('set' as const),
			node: fc.integer({ min: 0, max: 1 }),
			settings: fc.constantFrom<Partial<PollSettings>>(
				{ doneWhen: 'started' },
				{ doneWhen: 'ended' },
				{ doneWhen: 'succeeded' },
				{ groupSize: 1 },
				{ groupSize: 3 },
				{ attempts: 1 },
			),
		}),
	},
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
			givesAgain: fc.boolean(),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ does: fc.constant('zone' as const), hours: fc.integer({ min: -3, max: 3 }) }) },
);

export const pollHistories: fc.Arbitrary<PollHistory> = fc.record({
	doneWhen: fc.constantFrom('started', 'ended', 'succeeded'),
	afterCrash: fc.constantFrom('startAgain', 'setAside'),
	groupSize: fc.constantFrom(1, 1, 3),
	isCopy: fc.constantFrom(false, false, true),
	isDated: fc.boolean(),
	nodes: fc.constantFrom(1, 1, 2),
	courses: fc.array(
		fc.record({ ms: fc.constantFrom(1, 100, 3_000, 20_000), status: fc.constantFrom('success', 'success', 'error') }),
		{ minLength: 1, maxLength: 4 },
	),
	deeds: fc.array(deed, { minLength: 1, maxLength: 25 }),
});

/** Where a trigger begins, as the user enters it and what it means; or with which records. */
export interface Begins {
	start: string;
	since: string;
	/** The stage of the records in scope; all if empty, no records if absent. */
	stage?: string | undefined;
}

/** What the user chose for a trigger. */
export function choiceOf(
	{ doneWhen, afterCrash, groupSize, attempts = 3 }: PollSettings & Pick<PollHistory, 'afterCrash'>,
	events: string[],
	{ start, since, stage }: Begins,
	page: PollModelService['page'],
): TriggerChoice {
	const origin = { instance: 'instance', workflow: 'workflow' };
	const isCopy = stage !== undefined;
	return {
		source: isCopy ? 'records' : 'events',
		start,
		since,
		doneWhen,
		attempts,
		afterCrash,
		atOnce: doneWhen === 'ended' ? 1 : 2,
		groupSize,
		interval: 15_000,
		events: { events: isCopy ? recordTypes : events, filter: { changedFields: [], equal: { stage: [] } }, output: { shape: 'event', origin } },
		...(isCopy && { records: readerOf(stage, page) }),
	};
}

export const now: Begins = { start: '', since: '' };
