import type { AllOutcomes } from './events-under-kills.ts';

/** The default of Executions at Once. */
export const atOnce = 5;

/** The counts of a run during which n8n is killed. */
interface Counts {
	/** The number of events, in all workflows, that may succeed. */
	events: number;
	/** Events with an execution that was killed. */
	killed: number;
	/** Events with more than one successful execution, where an event is done when its execution succeeds. */
	repeated: number;
	reported: number;
}

/**
 * Expects that every event started its workflow once, as each choice of Mark as Done When promises.
 *
 * @param afterKill the statuses that n8n gives to executions that were killed
 */
export function expectEachOnce(
	{ started, ended, succeeded, setAside }: AllOutcomes,
	{ attempts, kills, afterKill = ['crashed'] }: { attempts: number; kills: number; afterKill?: string[] },
): Counts {
	const killed = (statuses: string[]) => statuses.some((status) => afterKill.includes(status));
	for (const { events, poisonous, reported } of [started, ended]) {
		const isOnce = (statuses: string[]) => statuses.length === 1 && (statuses[0] === 'success' || killed(statuses));
		expect(events.filter((statuses) => !isOnce(statuses))).toEqual([]);
		expect(events.filter(killed).length).toBeLessThanOrEqual(kills * atOnce);
		expect(poisonous.filter((statuses) => statuses.length !== 1)).toEqual([]);
		expect(reported).toBe(0);
	}

	expect(succeeded.poisonous.filter((statuses) => statuses.length !== attempts)).toEqual([]);
	expect(succeeded.poisonous.flat()).not.toContain('success');
	// A report is repeated if n8n is killed before the position is stored.
	expect(succeeded.reported).toBeGreaterThanOrEqual(succeeded.poisonous.length);
	expect(succeeded.reported).toBeLessThanOrEqual(succeeded.poisonous.length + kills);
	const successes = succeeded.events.map((statuses) => statuses.filter((status) => status === 'success').length);
	const repeated = successes.filter((count) => count > 1).length;
	expect(successes).not.toContain(0);
	// n8n does not report how an execution ended that was running when n8n was killed, so the trigger
	// starts it again, even if it had succeeded a moment earlier.
	expect(repeated).toBeLessThanOrEqual(kills * atOnce);

	// Each event succeeds or is reported, and none is started again unless its execution has certainly failed.
	expect(setAside.untold).toEqual([]);
	const again = [...setAside.events, ...setAside.poisonous].map((statuses) => statuses.slice(0, -1));
	expect(again.flat().filter((status) => status !== 'error')).toEqual([]);

	const all = [started, ended, succeeded, setAside].flatMap(({ events }) => events);
	return { events: all.length, killed: all.filter(killed).length, repeated, reported: succeeded.reported };
}
