import type { createSender } from '../../nodes/CrmPlatform/api/http/request.ts';
import type { ClientMaker } from './simulate.ts';

/** What is simulated is the connector's own code. */
export interface SimulatedConnector {
	createSender: typeof createSender;
}

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
				queueName: `process ${process}`,
				workflow: `${workflow}`,
				priority: isAwaited ? 'awaited' : 'ordinary',
				laterPriority: 'bulk',
				reserve: 0,
			},
		});
		return async () => (await send({ method: 'GET', path: '/contacts' })).ok;
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
