import type { IAllExecuteFunctions } from 'n8n-workflow';

import type { Clock } from '../base/clock';
import type { OnWait } from './http/requestQueue';

/** Waits of at least this length (ms) are reported. */
const reportAfter = 5_000;

/** Reports long waits: in n8n's log before (if its length is known) and after the wait, and on the node after the execution. */
export function reportWaits(n8n: IAllExecuteFunctions, notices: Set<string>, clock: Clock): OnWait {
	/** Concurrent waits, which count once. */
	let waiting = 0;
	let since = 0;
	let total = 0;
	let maxOthers = 0;
	/** Whether any wait was for the rate limit. */
	let wasLimited = false;
	let notice = '';

	const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
	const log = (message: string) => n8n.logger.info(`${n8n.getNode().name}: ${message}`);
	const noticeOfAll = () => {
		const workflows = maxOthers === 1 ? 'workflow was' : 'workflows were';
		const others = maxOthers === 0 ? '' : ` ${maxOthers} other ${workflows} waiting on the same credential.`;
		const advice = wasLimited ? ' To avoid this, send fewer requests at once or upgrade the plan of the account.' : '';
		return `The node waited ${seconds(total)} for the CRM.${others}${advice}`;
	};

	return (ms, otherWorkflows, isLimited) => {
		waiting += 1;
		if (waiting === 1) {
			since = clock.now();
			if (ms > reportAfter) log(`waiting ${seconds(ms)} for the CRM`);
		}
		return () => {
			waiting -= 1;
			wasLimited ||= isLimited;
			if (waiting > 0) return;
			const waited = clock.now() - since;
			total += waited;
			maxOthers = Math.max(maxOthers, otherWorkflows);
			if (waited >= reportAfter) log(`waited ${seconds(waited)} for the CRM, ${seconds(total)} in all`);
			if (total < reportAfter) return;
			notices.delete(notice);
			notice = noticeOfAll();
			notices.add(notice);
		};
	};
}
