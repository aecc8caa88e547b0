import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '../store/store.ts';
import type { JobQueue } from './queue.ts';

/**
 * Processes jobs while there are any, a step of each in turn; requests are answered in between.
 *
 * @returns a function to call whenever there may be work
 */
export function jobWorker(store: Store, queue: JobQueue): () => void {
	let isWorking = false;
	const work = async () => {
		isWorking = true;
		try {
			for (let jobs = queue.running(); jobs.length > 0; jobs = queue.running()) {
				for (const { id } of jobs) {
					await turn();
					if (!store.isOpen) return;
					queue.step(id);
				}
			}
		} finally {
			isWorking = false;
		}
	};
	return () => {
		if (!isWorking) work().catch(console.error);
	};
}
