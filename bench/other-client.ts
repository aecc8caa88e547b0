import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { resolve } from 'node:path';
import type { Server } from './server-process.ts';

/** Something slow that a client does; `round` is another number each time. */
export type Slow = (server: Server, round: number) => Promise<unknown>;

export type Order = 'begin' | 'pause';

/** Another client, in a process of its own. */
interface OtherClient {
	/** Does something slow, once or more often, until it is to pause. */
	begin(): void;
	/** @returns when what it does has ended */
	pause(): Promise<void>;
	stop(): Promise<void>;
}

/**
 * Starts another client. Reading its answers takes no time of this process, which would look as if the
 * server had let others wait; and as little as possible of the processors, as it would be on another machine.
 *
 * @param activity the name of something slow
 */
export function otherClient({ url }: Server, activity: string): OtherClient {
	const child = fork(resolve('bench', 'slow-client.ts'), [url, activity]);
	const exit = once(child, 'exit');
	setPriority(child.pid!, constants.priority.PRIORITY_LOW);
	const send = (message: Order) => child.send(message);
	return {
		begin: () => void send('begin'),
		async pause() {
			const paused = once(child, 'message');
			send('pause');
			const failed = exit.then(([code]) => Promise.reject(new Error(`The client that ${activity} ended with ${code}.`)));
			await Promise.race([paused, failed]);
		},
		async stop() {
			child.kill();
			await exit;
		},
	};
}
