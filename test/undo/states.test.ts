import { compareStates } from '../../nodes/CrmPlatform/undo/history';

const early = '2026-11-26T10:00:00.100Z';
const late = '2026-11-26T10:00:00.900Z';

test.each([
	['increasing versions', { version: 3 }, { version: 2 }, 'newer'],
	['versions as text', { version: '10' }, { version: '9' }, 'newer'],
	['versions beyond the precision of numbers', { version: '1152921504606846978' }, { version: '1152921504606846977' }, 'newer'],
	['decreasing versions beyond the precision of numbers', { version: '1152921504606846977' }, { version: '1152921504606846978' }, 'older'],
	['equal versions in two notations', { version: 2 }, { version: '2' }, 'same'],
	['equal versions at an earlier time, as in a replica', { version: 1, time: early }, { version: 1, time: late }, 'same'],
	['times of changes', { time: late }, { time: early }, 'newer'],
	['one time in two notations', { version: 1, time: early }, { version: 1, time: '2026-11-26T11:00:00+01:00' }, 'same'],
	['one time with and without fractions of a second', { time: late }, { time: '2026-11-26T10:00:00Z' }, 'same'],
	['times without fractions of a second', { time: '2026-11-26T10:00:01Z' }, { time: late }, 'newer'],
	['nothing in common', { version: 1 }, { time: early }, 'unknown'],
])('%s: a record with %j, earlier with %j, is %s', (_, now, then, expected) => {
	expect(compareStates(now, then)).toBe(expected);
});
