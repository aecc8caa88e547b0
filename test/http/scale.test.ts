import { queued } from '../../bench/scale/clients.ts';
import { promised, simulate } from '../../bench/scale/simulate.ts';
import { createSender } from '../../nodes/CrmPlatform/api/http/request';

test('1,000 executions in four processes use up the plan, are hardly refused, and none fails', async () => {
	const { refusals, use, failed, fairness, awaited } = await simulate({ ...promised, windows: 5 }, queued({ createSender }));
	expect(refusals).toBeLessThanOrEqual(0.02);
	expect(use).toBeGreaterThanOrEqual(0.97);
	expect(failed).toBe(0);
	expect(fairness).toBeGreaterThanOrEqual(0.95);
	expect(awaited.longest).toBeLessThanOrEqual(promised.plan.windowMs);
}, 120_000);

test('1,000 executions in one process are never refused', async () => {
	const { refusals, use, failed } = await simulate({ ...promised, processes: 1, windows: 3 }, queued({ createSender }));
	expect({ refusals, failed }).toEqual({ refusals: 0, failed: 0 });
	expect(use).toBeGreaterThanOrEqual(0.97);
}, 120_000);
