import { Turns } from '../../../sandbox/core/foundation/turns.ts';

/** Work that takes turns, such as hashes of passwords: it begins in its turn, and goes on when a test lets it. */
interface HeldTurns {
	/** How many pieces of work have begun, of all that have asked. */
	begun: number;
	requestCount: number;
	/** Lets the first of those that have begun go on. */
	letGo(): void;
	/** Lets all of them, and all to come. */
	letAllGo(): void;
}

/** From now on until `jest.restoreAllMocks()`. */
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
