import type { createSender } from '../../nodes/CrmPlatform/api/http/request.ts';
import type { decideRetry } from '../../nodes/CrmPlatform/api/http/retry.ts';
import type { latestWindow, rateWindow, RateWindow } from '../../nodes/CrmPlatform/api/http/rateLimitHeaders.ts';
import type { Caller, ClientMaker } from './simulate.ts';

/** What is simulated is the connector's own code. */
export interface SimulatedConnector {
	createSender: typeof createSender;
	decideRetry: typeof decideRetry;
	latestWindow: typeof latestWindow;
	rateWindow: typeof rateWindow;
}

const hour = 60 * 60_000;
const maxWait = 5 * 60_000;

/** The connector: all executions in a process share a queue. */
export const queued =
	({ createSender: create }: SimulatedConnector): ClientMaker =>
	({ process, workflow, isAwaited, clock, transport }) => {
		const send = create({
			transport,
			address: 'https://api.example.com',
			clock,
			queueOptions: {
				queueKey: `process ${process}`,
				workflow: `${workflow}`,
				priority: isAwaited ? 'awaited' : 'ordinary',
				laterPriority: 'bulk',
				maxUnattendedWait: hour,
				reserve: 0,
			},
		});
		return async () => (await send({ method: 'GET', path: '/v1/contacts' })).ok;
	};

/** The connector as it was: each execution follows the rate-limit headers of its own responses. */
export const eachByItself =
	({ decideRetry: decide, latestWindow: latest, rateWindow: read }: SimulatedConnector): ClientMaker =>
	({ clock, transport }) => {
		let window: RateWindow | undefined;
		return async () => {
			let waited = 0;
			for (let deferrals = 1; ; deferrals += 1) {
				const delay = window && window.remaining <= 0 ? Math.max(0, window.resetsAt - clock.now()) : 0;
				if (waited + delay > maxWait) return false;
				await clock.sleep(delay);
				waited += delay;
				const { status, headers } = await transport();
				const now = clock.now();
				window = latest(window, read(headers, now), now);
				if (status < 400) return true;
				const progress = { attempts: 1, deferrals, waited, isRepeatable: true, now, random: clock.random() };
				const decision = decide({ status, headers }, progress);
				if (!decision.retry) return false;
				await clock.sleep(decision.delay);
				waited += decision.delay;
			}
		};
	};

/** How a client paces itself if it only knows whether a request was refused. */
interface Rule {
	/** Milliseconds to wait before the next attempt. */
	before(now: number): number;
	onResponse(isAccepted: boolean, now: number): void;
}

/** A client for each execution, each with its own rule; it gives up after five minutes. */
const blind =
	(makeRule: (caller: Caller) => Rule): ClientMaker =>
	(caller) => {
		const { clock, transport } = caller;
		const rule = makeRule(caller);
		return async () => {
			const until = clock.now() + maxWait;
			for (;;) {
				const delay = rule.before(clock.now());
				if (clock.now() + delay > until) return false;
				await clock.sleep(delay);
				const { status } = await transport();
				rule.onResponse(status < 400, clock.now());
				if (status < 400) return true;
			}
		};
	};

/** https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter */
export const fullJitter = blind(({ clock }) => {
	let refusals = 0;
	return {
		before: () => (refusals === 0 ? 0 : clock.random() * Math.min(20_000, 500 * 2 ** refusals)),
		onResponse: (isAccepted) => (refusals = isAccepted ? 0 : refusals + 1),
	};
});

/** A rate in requests per millisecond, and the time of the next request. */
function paced(change: (rate: number, isAccepted: boolean, now: number) => number): Rule {
	let rate = 1 / 200;
	let next = 0;
	return {
		before: (now) => Math.max(0, next - now),
		onResponse: (isAccepted, now) => {
			rate = change(rate, isAccepted, now);
			next = now + 1 / rate;
		},
	};
}

/** The rate grows by a step with each success and is halved by each refusal. */
export const aimd = blind(({ clock }) =>
	paced((rate, isAccepted) => (isAccepted ? rate + 1 / 60_000 : Math.max(rate / 2, 1 / 300_000)) * (0.9 + 0.2 * clock.random())),
);

/** The rate of AWS's adaptive mode: CUBIC, with the constants of its SDKs (beta 0.7, scale 0.4, at least 0.5/s). */
export const awsAdaptive = blind(() => {
	let lastMaxRate = 0;
	let throttledAt = 0;
	let isThrottled = false;
	return paced((rate, isAccepted, now) => {
		const perSecond = rate * 1000;
		if (!isAccepted) {
			isThrottled = true;
			lastMaxRate = perSecond;
			throttledAt = now;
			return Math.max(0.5, perSecond * 0.7) / 1000;
		}
		if (!isThrottled) return rate;
		const window = Math.cbrt((lastMaxRate * 0.3) / 0.4);
		return Math.max(0.5, 0.4 * ((now - throttledAt) / 1000 - window) ** 3 + lastMaxRate) / 1000;
	});
});
