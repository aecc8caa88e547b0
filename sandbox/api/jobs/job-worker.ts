import type { Store } from '../../core/store/store.ts';
import type { JobQueue } from './job-queue.ts';

/**
 * Processes jobs while there are any, a step at a time; requests are answered in between. Jobs do not wait
 * for each other's reads.
 *
 * @returns a function to call whenever there may be work
 */
export function jobWorker(store: Store, queue: JobQueue): () => void {
	const inWork = new Set<string>();
	const work = async (id: string) => {
		while (await queue.step(id));
	};
	const wake = () => {
		if (!store.isOpen) return;
		for (const { id } of queue.running()) {
			if (inWork.has(id)) continue;
			inWork.add(id);
			work(id)
				.catch(console.error)
				.finally(() => {
					inWork.delete(id);
					wake();
				});
		}
	};
	return wake;
}
