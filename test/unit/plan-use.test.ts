import { PlanUse } from '../../nodes/CrmPlatform/api/http/planUse';
import { start, told } from './queued-requests.ts';

/** A plan at second 0, and what it is told at some second of a window that ends at another. */
function newPlan() {
	const plan = new PlanUse();
	const at = (second: number) => 1_800_000_000_000 + second * 1_000;
	const hear = (second: number, remaining: number, end: number, { underWay = 0, sent = second, status = 200 } = {}) => {
		const headers = { 'x-ratelimit-remaining': `${remaining}`, 'x-ratelimit-reset': `${at(end)}` };
		plan.hear({ status, headers }, underWay, at(sent), at(second));
	};
	return { plan, at, hear };
}

/** Of so many that are left, as many may be under way. */
const mostOf = (remaining: number, share: number) => Math.floor(remaining * (share / 8 + 1 / 64));

describe('the share of the plan', () => {
	test('is all of it, once all that the service counts was ours', () => {
		const { plan, at, hear } = newPlan();
		for (let left = 1_000; left >= 980; left -= 1) hear(1, left, 60);
		expect(plan.most(at(1))).toBe(mostOf(980, 1));
	});

	test('counts what is under way, which the service may have counted already', () => {
		const { plan, at, hear } = newPlan();
		hear(1, 1_000, 60, { underWay: 5 });
		for (const left of [990, 980, 970, 960, 950]) hear(1, left, 60, { underWay: 5 });
		expect(plan.most(at(1))).toBe(mostOf(950, 1 / 8));
	});

	test('does not count what was refused', () => {
		const { plan, at, hear } = newPlan();
		hear(1, 640, 60);
		for (let i = 0; i < 20; i += 1) hear(1, 580, 60);
		for (let i = 0; i < 40; i += 1) hear(1, 580, 60, { status: 429 });
		expect(plan.most(at(1))).toBe(mostOf(580, 20 / 60));
	});

	test.each([
		['that begins when the last one ends', 60, 60, 120],
		['of one second', 1, 1, 2],
		['that begins before the last one was to end', 60, 30, 90],
	])('is measured anew in a window %s, however much others have left of it', (_, end, next, nextEnd) => {
		const { plan, at, hear } = newPlan();
		for (let left = 1_000; left >= 900; left -= 1) hear(0, left, end);
		for (const left of [890, 880, 870, 860, 850, 840]) hear(next, left, nextEnd, { underWay: 5 });
		expect(plan.most(at(next))).toBe(mostOf(840, 10 / 50));
	});

	test('counts a request as answered or as under way, not as both', async () => {
		const heard = jest.spyOn(PlanUse.prototype, 'hear');
		const { clock, send, pass } = start();
		await Promise.all([send('first', () => told(clock, 1_000)), pass(200)]);
		for (const ms of [100, 200, 300]) void send('next', () => told(clock, 990), {}, ms);
		await pass(400);
		expect(heard.mock.calls.map(([, underWay]) => underWay)).toEqual([0, 2, 1, 0]);
		heard.mockRestore();
	});
});

describe('of a window that was told', () => {
	const refuse = (plan: PlanUse, now: number) => plan.hear({ status: 429, headers: { 'retry-after': '5' } }, 0, now, now);

	test('a refusal that tells none takes nothing away, as it may concern one path only', () => {
		const { plan, at, hear } = newPlan();
		hear(1, 640, 60);
		refuse(plan, at(2));
		expect(plan.most(at(2))).toBe(mostOf(640, 1 / 8));
	});

	test('a refusal that names an earlier end changes nothing where it is used up', () => {
		const { plan, at, hear } = newPlan();
		hear(1, 0, 50);
		refuse(plan, at(2));
		expect(plan.shutUntil(at(8), 0)).toBe(at(50));
	});

	test('an answer of the window before does not say that it is still used up', () => {
		const { plan, at, hear } = newPlan();
		hear(1, 0, 3_600);
		hear(31, 5, 60, { sent: 0 });
		expect([plan.isKnown(at(60)), plan.isKnown(at(62))]).toEqual([true, false]);
	});

	test('what is left counts the latest request, though an earlier one is answered after it', () => {
		const { plan, at, hear } = newPlan();
		hear(6, 639, 60, { sent: 5 });
		hear(7, 640, 60, { sent: 1 });
		expect(plan.countFrom(at(10))).toBe(at(5));
	});
});
