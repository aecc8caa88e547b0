import { executionKey, isStarted, runExecution, runsOnWorkers, traceOutcome } from './execution';
import { type LedgerEffect, type LedgerEvent, nextLedger } from './ledger';
import type { LoadGroup } from './loading';
import { countAwaited, isUnderWay, startable } from './openGroups';
import type { Opening } from './openPosition';
import type { Progress } from './progress';
import { report } from './reports';

/**
 * Starts executions for open groups, and closes a group when its execution has reached the outcome that the user chose.
 *
 * Each start has a key that n8n keeps unique among its executions (`emit`, since n8n 2.20), so a group that is
 * started again after a crash starts nothing if its execution exists. n8n settles such a start with `undefined`
 * (2.41, trigger-execution-context.factory).
 */
export class Starts {
	/** Those of the trigger since it was opened again: they follow what was started before, too. */
	successor: Starts | undefined;
	private readonly opening: Opening;
	private readonly progress: Progress;
	/** Called when an execution has ended. */
	private readonly onEnd: () => void;
	/** Aborted when nothing may be started any more. */
	private readonly signal: AbortSignal;

	constructor(opening: Opening, progress: Progress, onEnd: () => void, signal: AbortSignal) {
		this.opening = opening;
		this.progress = progress;
		this.onEnd = onEnd;
		this.signal = signal;
	}

	/** Asks n8n for the executions of groups that were under way when n8n was killed: what they need may no longer be readable. */
	async findExecutions(): Promise<void> {
		const groups = this.progress.ledger.open.flatMap(({ group, execution }) => (group.isEmitted && !execution ? [group] : []));
		const exist = await Promise.all(groups.map(async (group) => await isStarted(this.opening, group)));
		if (this.signal.aborted) return;
		for (const [i, { name }] of groups.entries()) this.apply({ is: 'sought', name, exists: exist[i] === true });
	}

	/** Starts every group that is due, in order, while there are free slots. */
	async startDue(load: LoadGroup): Promise<void> {
		const { opening: { n8n, clock, settings: { atOnce, doneWhen } }, progress, signal } = this;
		if (signal.aborted) return;
		const { executionTimeout = 0 } = n8n.getWorkflowSettings();
		const timeout = executionTimeout > 0 ? executionTimeout * 1000 : Infinity;
		// n8n would add an empty item to a probe, and the next nodes would run.
		const mayProbe = !n8n.getNode().alwaysOutputData;
		this.apply({ is: 'time', onWorkers: runsOnWorkers(), timeout, mayProbe, beginning: progress.position.start });
		const now = clock.now();
		for (;;) {
			const [next] = startable(progress.ledger.open, now, doneWhen === 'ended');
			if (!next || signal.aborted || progress.ledger.open.filter(isUnderWay).length >= atOnce) return;
			const loaded = await load(next);
			// If the trigger was published again meanwhile, it may have started the group already.
			if (signal.aborted) return;
			this.apply({ is: 'loaded', name: next.group.name, ...loaded });
		}
	}

	/** Applies an event to the ledger, and does what that decides. */
	private apply(event: LedgerEvent): void {
		const { opening: { clock, settings }, progress } = this;
		const before = progress.ledger;
		const { ledger, effects } = nextLedger(before, event, settings, clock.now());
		progress.ledger = ledger;
		for (const effect of effects) this.perform(effect);
		if (countAwaited(ledger.open) < countAwaited(before.open)) this.onEnd();
	}

	private perform(effect: LedgerEffect): void {
		const { n8n } = this.opening;
		if (effect.do === 'emit') void this.emit(effect);
		else if (effect.do === 'seek') void this.seek(effect);
		else if (effect.do === 'probe') void this.probe(effect);
		else report(n8n, effect.report);
	}

	private async emit({ group, items, emission }: EffectOf<'emit'>): Promise<void> {
		const { opening: { n8n, clock }, progress } = this;
		const { name } = group;
		const key = executionKey(n8n, group);
		// `emit` stores the position together with the group.
		progress.put();
		const { outcome, hasRun, untraced } = await runExecution(n8n, items, key, clock);
		const { open } = this.latest.progress.ledger;
		const isAwaited = open.some(({ group, execution }) => group.name === name && execution?.last === emission);
		const traced = isAwaited && untraced !== undefined ? await traceOutcome(n8n, key, untraced, clock) : outcome;
		this.latest.apply({ is: 'ended', name, emission, outcome: traced, hasRun });
	}

	private async seek({ group }: EffectOf<'seek'>): Promise<void> {
		const exists = (await isStarted(this.opening, group)) === true;
		this.latest.apply({ is: 'sought', name: group.name, exists });
	}

	private async probe({ emission }: EffectOf<'probe'>): Promise<void> {
		const { outcome } = await runExecution(this.opening.n8n, [], undefined, this.opening.clock);
		this.latest.apply({ is: 'probed', emission, isRejected: outcome === 'rejected by n8n' });
	}

	private get latest(): Starts {
		return this.successor?.latest ?? this;
	}
}

type EffectOf<Do extends LedgerEffect['do']> = Extract<LedgerEffect, { do: Do }>;
