import * as fc from 'fast-check';

/** What happens in a history: to the service, to n8n, or nothing for a while. */
type SimpleStep = 'happen' | 'unsent' | 'unreadable' | 'publish' | 'delete' | 'pause' | 'resume' | 'rotate' | 'divert' | 'narrow' | 'widen';

export type WebhookStep =
	| { does: SimpleStep }
	| { does: 'wait' | 'late' | 'unreachable'; ms: number }
	| { does: 'kill'; down: number; address: string; starts: number }
	| { does: 'fail' | 'loseAnswers' | 'copies' | 'oldStore'; count: number };

const minute = 60_000;
const simple = (weight: number, ...steps: SimpleStep[]) => ({
	weight,
	arbitrary: fc.constantFrom(...steps).map((does): WebhookStep => ({ does })),
});
const timed = (weight: number, does: 'wait' | 'late' | 'unreachable', ...times: number[]) => ({
	weight,
	arbitrary: fc.constantFrom(...times).map((ms): WebhookStep => ({ does, ms })),
});
const counted = (weight: number, does: 'fail' | 'loseAnswers' | 'copies' | 'oldStore', min: number, max: number) => ({
	weight,
	arbitrary: fc.integer({ min, max }).map((count): WebhookStep => ({ does, count })),
});

const step: fc.Arbitrary<WebhookStep> = fc.oneof(
	simple(8, 'happen'),
	simple(1, 'unsent', 'unreadable'),
	simple(6, 'publish', 'delete', 'pause', 'resume', 'rotate', 'divert', 'narrow', 'widen'),
	timed(6, 'wait', 100, 3_000, 2 * minute, 11 * minute, 11 * minute, 90 * minute),
	timed(1, 'wait', 13 * 60 * minute),
	timed(1, 'late', 0, 2_000, 4 * minute),
	timed(1, 'unreachable', 3_000, 30 * minute),
	counted(1, 'fail', 1, 3),
	counted(1, 'loseAnswers', 1, 2),
	counted(1, 'copies', 1, 2),
	counted(1, 'oldStore', 0, 6),
	{
		weight: 3,
		arbitrary: fc.record({
			does: fc.constant('kill' as const),
			down: fc.constantFrom(0, 2_000, 2 * minute, 5 * 60 * minute, 30 * 60 * minute),
			address: fc.constantFrom('a', 'a', 'b'),
			starts: fc.constantFrom(0, 10_000),
		}),
	},
);

export const webhookHistories = fc.array(step, { minLength: 1, maxLength: 14 });
