import * as fc from 'fast-check';

import type { PollOptions, PollSettings } from '../../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import type { Course } from './poll-n8n.ts';
import { recordTypes, scopeOf } from './records.ts';
import type { Failure } from './poll-service.ts';

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
	/** Another beginning: that many seconds ago, now, at the first date, or with records. */
	| { does: 'begin'; node: number; at: number | 'now' | 'first' | 'records' }
	| { does: 'set'; node: number; settings: Partial<HistorySettings> }
	| { does: 'loseStore' }
	| { does: 'oldStore'; back: number }
	| { does: 'databaseAway'; ms: number }
	/** For a minute, n8n takes this long (ms) to write an execution. */
	| { does: 'slow'; ms: number }
	| { does: 'prune' }
	| { does: 'loseJobs'; count: number }
	| { does: 'restore'; without: number; grows: number; givesAgain?: boolean }
	| { does: 'zone'; hours: number };

/** What a user may change with each publish. */
export interface HistorySettings {
	doneWhen: PollOptions['doneWhen'];
	groupSize: number;
	attempts?: number;
}

export interface PollHistory extends HistorySettings {
	afterCrash: 'startAgain' | 'setAside';
	/** Whether it starts with records. */
	isCopy?: boolean;
	/** Whether the trigger begins at a date. */
	isDated: boolean;
	nodes: number;
	courses: Course[];
	steps: PollStep[];
}

type StepOf<Does extends PollStep['does']> = Extract<PollStep, { does: Does }>;

/** A kind of step, which is as frequent as its weight. */
const weighted = <Does extends PollStep['does']>(
	weight: number,
	does: Does,
	members: { [Name in Exclude<keyof StepOf<Does>, 'does'>]: fc.Arbitrary<StepOf<Does>[Name]> },
) => ({ weight, arbitrary: fc.record({ does: fc.constant(does), ...members }) as unknown as fc.Arbitrary<PollStep> });

const node = fc.integer({ min: 0, max: 1 });

const step = fc.oneof(
	weighted(8, 'happen', {
		count: fc.integer({ min: 1, max: 6 }),
		type: fc.constantFrom('a.x', 'a.y', 'b.x'),
		record: fc.integer({ min: 0, max: 3 }),
		late: fc.constantFrom(0, 0, 0, 2_000, 8_000),
	}),
	weighted(6, 'wait', { ms: fc.constantFrom(50, 1_000, 5_000, 20_000, 60_000) }),
	weighted(4, 'kill', { down: fc.constantFrom(0, 0, 1_000, 60_000) }),
	weighted(2, 'publish', { node }),
	weighted(3, 'choose', {
		node, types: fc.constantFrom<string[]>(['a.x'], ['a.*'], ['a.x', 'b.x'], ['b.x'], ['a.x', 'p.*'], ['p.created', 'p.updated']),
	}),
	weighted(2, 'lag', { ms: fc.constantFrom(0, 2_500, 8_000) }),
	weighted(2, 'fail', {
		count: fc.integer({ min: 1, max: 6 }),
		failure: fc.constantFrom<Failure>('none', 'cut', '400', '403', '404', '410', '422', '500'),
	}),
	weighted(8, 'write', {
		record: fc.integer({ min: 0, max: 5 }),
		stage: fc.constantFrom('lead', 'lead', 'customer', ''),
		late: fc.constantFrom(0, 0, 0, 2_000),
	}),
	weighted(1, 'expire', {}),
	weighted(1, 'scope', { node, stage: fc.constantFrom('', 'lead') }),
	weighted(2, 'begin', { node, at: fc.constantFrom<number | 'now' | 'first' | 'records'>(30, 300, 'now', 'first', 'records') }),
	weighted(2, 'set', {
		node,
		settings: fc.constantFrom<Partial<HistorySettings>>(
			...(['started', 'ended', 'succeeded'] as const).map((doneWhen) => ({ doneWhen })),
			...[{ groupSize: 1 }, { groupSize: 3 }, { attempts: 1 }],
		),
	}),
	weighted(1, 'loseStore', {}),
	weighted(1, 'oldStore', { back: fc.integer({ min: 1, max: 8 }) }),
	weighted(2, 'databaseAway', { ms: fc.constantFrom(1_000, 30_000) }),
	weighted(1, 'slow', { ms: fc.constantFrom(1_000, 4_000) }),
	weighted(1, 'prune', {}),
	weighted(1, 'loseJobs', { count: fc.integer({ min: 1, max: 3 }) }),
	weighted(1, 'restore', { without: fc.integer({ min: 1, max: 10 }), grows: fc.integer({ min: 0, max: 20 }), givesAgain: fc.boolean() }),
	weighted(1, 'zone', { hours: fc.integer({ min: -3, max: 3 }) }),
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
	steps: fc.array(step, { minLength: 1, maxLength: 25 }),
});

/** Where a trigger begins: as the user enters it, and as a date; or with which records. */
export interface Begins {
	start: string;
	since: string;
	/** The stage of the records in scope; all if empty, no records if absent. */
	stage?: string | undefined;
}

/** What the user chose for a trigger. */
export function choiceOf(
	{ doneWhen, afterCrash, groupSize, attempts = 3 }: HistorySettings & Pick<PollHistory, 'afterCrash'>,
	events: string[],
	{ start, since, stage }: Begins,
): PollSettings {
	const receiver = { instance: 'instance', workflow: 'workflow' };
	const isCopy = stage !== undefined;
	return {
		beginning: start,
		since,
		doneWhen,
		attempts,
		afterCrash,
		atOnce: doneWhen === 'ended' ? 1 : 2,
		groupSize,
		interval: 15_000,
		events: {
			events: isCopy ? recordTypes : events,
			filter: { changedFields: [], equal: { stage: [] } },
			output: { content: 'event', receiver, names: 'none' },
		},
		...(isCopy && { scope: scopeOf(stage) }),
	};
}

export const now: Begins = { start: '', since: '' };
