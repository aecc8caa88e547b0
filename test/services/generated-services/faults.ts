import * as fc from 'fast-check';

/** A fault of a request, and whether the service performs the request anyway. */
export interface Fault {
	/** The first request of its kind that it affects, from 0 on. */
	at: number;
	/** How many in a row. */
	times: number;
	on: 'write' | 'read';
	/** An error status, or a fault of the connection or the answer. */
	kind: number | '503 with Retry-After' | 'drop' | 'slow' | 'page' | 'cut' | 'text' | 'error in 200' | 'part of the results';
	/** When the fault occurs: before or after the request takes effect; `later`: the request is still in progress when it is repeated. */
	effect: 'before' | 'after' | 'later';
}

/** A service that answers like this has done nothing. One that is busy (503 with Retry-After) may have performed the request. */
const refusals = [400, 413, 422, 429, 'error in 200'];
/** A service that answers like this has performed the request. */
const successes = ['slow', 'part of the results'];

export const faults: fc.Arbitrary<Fault> = fc
	.record({
		at: fc.nat(3),
		times: fc.constantFrom(1, 1, 2, 6),
		on: fc.constantFrom('write', 'write', 'write', 'read'),
		kind: fc.constantFrom<Fault['kind'][]>(
			'drop', 'drop', 500, 502, 503, 522, 408, 429, 400, 413, 422,
			'503 with Retry-After', 'slow', 'page', 'cut', 'text', 'error in 200', 'part of the results',
		),
		effect: fc.constantFrom('before', 'after', 'later'),
	} as const)
	.map((fault) => {
		if (refusals.includes(fault.kind)) return { ...fault, effect: 'before' };
		return successes.includes(fault.kind as string) ? { ...fault, effect: 'after' } : fault;
	});
