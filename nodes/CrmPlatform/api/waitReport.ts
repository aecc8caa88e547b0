import type { IAllExecuteFunctions } from 'n8n-workflow';

import type { Clock } from '../base/clock';

/** Waits of at least this length (ms) are reported. */
const reportAfter = 5_000;

/** Reports long waits: in n8n's log before (if its length is known) and after the wait, and on the node after the execution. */
export class WaitReport {
	private readonly n8n: IAllExecuteFunctions;
	private readonly notices: Set<string>;
	private readonly clock: Clock;
	/** Concurrent waits, which count once. */
	private waiting = 0;
	private since = 0;
	private total = 0;
	private maxOthers = 0;
	/** Whether any wait was for the rate limit. */
	private isLimited = false;

	constructor(n8n: IAllExecuteFunctions, notices: Set<string>, clock: Clock) {
		this.n8n = n8n;
		this.notices = notices;
		this.clock = clock;
	}

	/**
	 * @param ms expected length
	 * @param isLimited whether the rate limit is the reason
	 * @returns ends the wait
	 */
	begin(ms: number, otherWorkflows: number, isLimited: boolean): () => void {
		this.waiting += 1;
		if (this.waiting === 1) {
			this.since = this.clock.now();
			if (ms > reportAfter) this.log(`waiting ${Math.round(ms / 1000)} s for the CRM`);
		}
		return () => this.end(otherWorkflows, isLimited);
	}

	private end(otherWorkflows: number, isLimited: boolean): void {
		this.waiting -= 1;
		this.notices.delete(this.notice());
		this.isLimited ||= isLimited;
		if (this.waiting > 0) return;
		const waited = this.clock.now() - this.since;
		this.total += waited;
		if (waited >= reportAfter) this.log(`waited ${Math.round(waited / 1000)} s for the CRM, ${Math.round(this.total / 1000)} s in all`);
		this.maxOthers = Math.max(this.maxOthers, otherWorkflows);
		if (this.total >= reportAfter) this.notices.add(this.notice());
	}

	private log(message: string): void {
		this.n8n.logger.info(`${this.n8n.getNode().name}: ${message}`);
	}

	private notice(): string {
		const workflows = this.maxOthers === 1 ? 'workflow was' : 'workflows were';
		const others = this.maxOthers === 0 ? '' : ` ${this.maxOthers} other ${workflows} waiting on the same credential.`;
		const advice = this.isLimited ? ' To avoid this, send fewer requests at once or upgrade the plan of the account.' : '';
		return `The node waited ${Math.round(this.total / 1000)} s for the CRM.${others}${advice}`;
	}
}
