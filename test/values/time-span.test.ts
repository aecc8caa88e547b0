import { timeSpan } from '../../nodes/CrmPlatform/values/dates';

const isLater = (time: unknown, reference: unknown) => timeSpan(time, 'utc')!.from > timeSpan(reference, 'utc')!.to;

test.each([
	['a day, without its time zone', '2026-11-20', '2026-11-20T09:00:00Z'],
	['a second', '2026-11-20T09:00:01Z', '2026-11-20T09:00:01.400Z'],
	['a minute', '2026-11-20T09:00Z', '2026-11-20T09:00:30Z'],
	['a second, with zeros', '2026-11-20T09:00:01.000Z', '2026-11-20T09:00:01.400Z'],
	['a day, with zeros', '2026-11-20T00:00:00+01:00', '2026-11-20T13:00:00Z'],
	['epoch seconds as milliseconds', 1_795_000_001_000, 1_795_000_001_999],
])('of two times within %s, neither is later', (_, first, second) => {
	expect([isLater(first, second), isLater(second, first)]).toEqual([false, false]);
});

test.each([
	['2026-11-20T09:00:02Z', '2026-11-20T09:00:01.999Z'],
	['2026-11-20T09:00:00.002Z', '2026-11-20T09:00:00.001Z'],
	['2026-11-22', '2026-11-20T09:00:00Z'],
])('%s is later than %s', (later, earlier) => {
	expect(isLater(later, earlier)).toBe(true);
	expect(isLater(earlier, later)).toBe(false);
});
