/** A repeatable source of numbers and choices. */
export interface Random {
	/** In [0, 1). */
	next(): number;
	/** From 0 to `count` - 1. */
	below(count: number): number;
	pick<T>(list: readonly T[]): T;
	/** True in this share of cases. */
	chance(share: number): boolean;
}

/** mulberry32 (Tommy Ettinger): small, fast, the same everywhere; not for secrets. */
export function randomFrom(seed: number): Random {
	let state = seed;
	const next = () => {
		state = (state + 0x6d2b79f5) | 0;
		let bits = Math.imul(state ^ (state >>> 15), state | 1);
		bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
		return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
	};
	const below = (count: number) => Math.floor(next() * count);
	return { next, below, pick: (list) => list[below(list.length)]!, chance: (share) => next() < share };
}
