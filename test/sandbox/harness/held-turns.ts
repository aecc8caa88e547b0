import { Turns } from '../../../sandbox/core/foundation/turns.ts';

/** Work that takes turns, such as password hashes. It begins in its turn, and continues when the test lets it. */
interface HeldTurns {
	/** The number of pieces of work that have begun. */
	begun: number;
	requestCount: number;
	/** Lets the first piece that has begun continue. */
	letGo(): void;
	/** Lets all pieces continue, including future ones. */
	letAllGo(): void;
}

/** Holds work from now on, until `jest.restoreAllMocks()`. */
export function holdTurns(): HeldTurns {
	const waiters: Array<() => void> = [];
	let isHolding = true;
	const turns: HeldTurns = {
		begun: 0,
		requestCount: 0,
		letGo: () => waiters.shift()?.(),
		letAllGo() {
			isHolding = false;
			for (const go of waiters.splice(0)) go();
		},
	};
	const { run } = Turns.prototype;
	jest.spyOn(Turns.prototype, 'run').mockImplementation(async function (this: Turns, who, work) {
		turns.requestCount += 1;
		return await run.call(this, who, async () => {
			turns.begun += 1;
			if (isHolding) await new Promise<void>((go) => waiters.push(go));
			return await work();
		});
	});
	return turns;
}
