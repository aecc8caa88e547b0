import * as fc from 'fast-check';

/** What goes wrong with one request, and whether the service carries it out all the same. */
export interface Fault {
	/** Which requests of a kind it meets: the first is 0. */
	at: number;
	/** How many in a row. */
	times: number;
	on: 'write' | 'read';
	/** A status, or what becomes of the connection or the answer. */
	kind: number | '503 with Retry-After' | 'drop' | 'slow' | 'page' | 'cut' | 'text' | 'error in 200' | 'part of the results';
	/** Whether the request takes effect before; a later effect is still under way when it is repeated. */
	effect: 'before' | 'after' | 'later';
}

/** A service that says so has done nothing; one that is busy (503 with Retry-After) may have done it. */
const refusals = [400, 413, 422, 429, 'error in 200'];
/** A service that says so has done it. */
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
