import { RateLimiter } from '../../sandbox/api/http/rate-limiter.ts';

test('windows are dropped a minute after their last request', () => {
	const limiter = new RateLimiter(10);
	for (let i = 0; i < 5000; i++) limiter.count(`stranger ${i}`, 1000 + i);
	expect(limiter.size).toBe(5000);
	limiter.count('account', 30_000);
	limiter.count('account', 70_000);
	expect(limiter.size).toBe(1);
});

test('the memory for a caller does not depend on the length of its name', () => {
	const limiter = new RateLimiter(10);
	for (let i = 0; i < 100; i++) limiter.count(`${i}${'x'.repeat(100_000)}`, 1000);
	expect(JSON.stringify([...limiter['windows']]).length).toBeLessThan(10_000);
});

test('many callers within a minute get a bounded number of windows, and busy callers keep theirs', () => {
	const limiter = new RateLimiter(150);
	for (let i = 0; i < 120_000; i++) {
		limiter.count(`stranger ${i}`, 1000);
		if (i % 1000 === 0) limiter.count('account', 1000);
	}
	expect(limiter.size).toBe(100_000);
	expect(limiter.state('account', 1000).remaining).toBe(30);
});
