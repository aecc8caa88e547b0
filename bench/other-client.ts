import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { resolve } from 'node:path';
import type { Server } from './server-process.ts';

/** A slow activity of a client; `round` differs each time. */
export type SlowActivity = (server: Server, round: number) => Promise<unknown>;

export type ClientOrder = 'begin' | 'pause';

/** Another client, in a separate process. */
interface OtherClient {
	/** Repeats something slow until it is told to pause. */
	begin(): void;
	/** @returns when its activity has ended */
	pause(): Promise<void>;
	stop(): Promise<void>;
}

/**
 * Starts another client in a process of low priority. Otherwise, reading its responses would take time of this
 * process or of its processors, which would look as if the server had made others wait.
 *
 * @param activity the name of a slow activity
 */
export function otherClient({ url }: Server, activity: string): OtherClient {
	const child = fork(resolve('bench', 'slow-client.ts'), [url, activity]);
	const exit = once(child, 'exit');
	setPriority(child.pid!, constants.priority.PRIORITY_LOW);
	const send = (message: ClientOrder) => child.send(message);
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
