import type { Background } from '../foundation/background.ts';
import type { Store } from './store.ts';

/** Delay after a write; the maintenance for all writes in this time is done together. */
const afterMs = 50;
/** Most index pages are rewritten many times in this interval, but written to the file only once. */
const checkpointEveryMs = 2000;

/** Background maintenance while there are writes: indexes new rows and checkpoints the write-ahead log. */
export function startMaintenance({ store, background }: { store: Store; background: Background }): void {
	let isUnderWay = false;
	let isNeeded = true;
	let lastCheckpoint = -Infinity;
	let isCheckpointDue = false;
	const work = async () => {
		isNeeded = false;
		const pieces = store.maintain(() => background.endOfPiece());
		while (await background.run(() => store.isOpen && !pieces.next().done));
		if (!store.isOpen) return;
		const early = lastCheckpoint + checkpointEveryMs - performance.now();
		if (early > 0) return checkpointAfter(early);
		// No background work writes meanwhile, so the log is empty afterwards and is reused from its beginning.
		await background.run(() => store.checkpoint());
		lastCheckpoint = performance.now();
	};
	// The last writes are checkpointed even if no others follow.
	const checkpointAfter = (ms: number) => {
		if (isCheckpointDue) return;
		isCheckpointDue = true;
		const begin = () => {
			isCheckpointDue = false;
			isNeeded = true;
			wake();
		};
		setTimeout(begin, ms).unref();
	};
	const wake = () => {
		if (isUnderWay || !isNeeded) return;
		isUnderWay = true;
		const begin = () => {
			work().catch((error) => store.isOpen && console.error(error)).finally(() => {
				isUnderWay = false;
				wake();
			});
		};
		setTimeout(begin, afterMs).unref();
	};
	store.onWritten = () => {
		isNeeded = true;
		wake();
	};
	wake();
}
