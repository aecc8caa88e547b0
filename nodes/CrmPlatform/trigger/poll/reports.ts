import { type ITriggerFunctions, NodeOperationError } from 'n8n-workflow';

import { reportFailure } from '../triggerContext';
import type { Outcome } from './n8nExecutions';
import { type Group, memberIds, memberNoun, memberRecords } from './position';

/** Why some events or records of a group could not be read. */
export interface LoadFailure {
	ids: string[];
	error: Error;
	/** Whether the service has refused them, so that a retry is of little use. */
	isFinal: boolean;
}

/** What the user is told by a failed execution. */
export interface Report {
	message: string;
	description?: string;
}

export const sendReport = (n8n: ITriggerFunctions, { message, description }: Report): void =>
	reportFailure(n8n, new NodeOperationError(n8n.getNode(), message, { ...(description !== undefined && { description }) }));

/** `The event evt_1`, or `5 events`. */
const subjectOf = (nouns: string, ids: string[], article = 'The'): string =>
	ids.length === 1 ? `${article} ${nouns.slice(0, -1)} ${ids[0]}` : `${ids.length} ${nouns}`;

const subjectWas = (nouns: string, ids: string[]): string => `${subjectOf(nouns, ids)} ${ids.length === 1 ? 'was' : 'were'}`;

/** Logs, for debugging, why events or records are left out. */
export const logLeftOut = (n8n: ITriggerFunctions, ids: string[], why: string): void =>
	n8n.logger.debug(`${n8n.getNode().name}: ${ids.join(', ')} starts nothing: ${why}.`);

/** A group is set aside after its last execution. */
export function setAsideReport(group: Group, outcome: Outcome): Report {
	const { attempt, unbegun } = group;
	const ids = memberIds(group);
	const retry = 'Find the failed executions in the list, and retry the last one once its cause is fixed';
	const reasons: Partial<Record<Outcome, [why: string, advice: string]>> = {
		unknown: ['n8n stopped during the execution, so its outcome is unknown', 'Check what the execution has done, and retry it if it has not finished'],
		'rejected by n8n': ['n8n could not start an execution, ten times', 'Find the reason in n8n’s log, then handle them yourself'],
		'ended before its first node': [`n8n ended ${unbegun + 1} executions before they began`, retry],
	};
	const [why, advice] = reasons[outcome] ?? [attempt === 1 ? 'the execution failed' : `${attempt} executions failed`, retry];
	return {
		message: `${subjectWas(memberNoun(group), ids)} set aside: ${why}`,
		description: `The trigger continues with the others. ${advice} (${ids.join(', ')}).`,
	};
}

/** Events or records cannot be read, so that no execution starts for them yet. */
export function unreadReport(group: Group, failures: LoadFailure[]): Report {
	const ids = failures.flatMap((failure) => failure.ids);
	return {
		message: `${subjectOf(memberNoun(group), ids)} could not be read yet: ${failures[0]!.error.message}`,
		description: `The trigger tries again, and meanwhile continues with the others (${ids.join(', ')}).`,
	};
}

/** Events or records are set aside because the service does not return them. */
export function refusedReport(group: Group, failures: LoadFailure[]): Report {
	const ids = failures.flatMap((failure) => failure.ids);
	return {
		message: `${subjectWas(memberNoun(group), ids)} set aside and started no ${group.attempt > 1 ? 'further ' : ''}execution: ${failures[0]!.error.message}`,
		description: `The trigger continues with the others. Check what the credential may read, then handle the records yourself (${ids.join(', ')}).`,
	};
}

/** Events or records that the service does not return are set aside with their group, although it may have been started. */
export function unansweredReport(group: Group, failures: LoadFailure[]): Report {
	const ids = memberIds(group);
	return {
		message: `${subjectWas(memberNoun(group), ids)} set aside, and n8n has not said whether it had started an execution: ${failures[0]!.error.message}`,
		description: `The trigger continues with the others. Look for the execution in the list; if there is none, handle them yourself (${ids.join(', ')}).`,
	};
}

/** A new beginning has left open records behind. */
export function abandonedReport(groups: Group[]): Report {
	const records = [...new Set(groups.flatMap(memberRecords))];
	return {
		message: `${subjectWas('pending records', records)} set aside because the trigger now starts from another point`,
		description: `No execution starts for them (${records.join(', ')}). To start the workflow for changes that had no execution, set Start On to Events, and Start From to A Date before them. Retry failed executions in the list of executions, and read the other records by ID.`,
	};
}

/** An execution has begun, and n8n does not report its end. */
export const silentReport = (group: Group): Report => ({
	message: `For an hour, n8n has not reported how the execution for ${subjectOf(memberNoun(group), memberIds(group), 'the')} ended`,
	description:
		'The trigger waits for it. If the list of executions does not show it as running, n8n has lost it: restart the main process of n8n, and the trigger continues.',
});
