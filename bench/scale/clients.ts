import type { createSender } from '../../nodes/CrmPlatform/api/http/request.ts';
import type { decideRetry } from '../../nodes/CrmPlatform/api/http/retry.ts';
import type { latestWindow, rateWindow, RateWindow } from '../../nodes/CrmPlatform/api/http/rateLimitHeaders.ts';
import type { ClientMaker } from './simulate.ts';

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

/** Each execution by itself, backing off at random after refusals: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter */
export const fullJitter: ClientMaker = ({ clock, transport }) => async () => {
	const until = clock.now() + maxWait;
	for (let refusals = 0; ; refusals += 1) {
		const delay = refusals === 0 ? 0 : clock.random() * Math.min(20_000, 500 * 2 ** refusals);
		if (clock.now() + delay > until) return false;
		await clock.sleep(delay);
		const { status } = await transport();
		if (status < 400) return true;
	}
};
