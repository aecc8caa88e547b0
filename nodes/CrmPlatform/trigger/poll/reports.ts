import { type INode, NodeOperationError } from 'n8n-workflow';

import type { Outcome } from './execution';
import type { LoadFailure } from './loadGroup';
import { type Group, memberIds } from './position';

/** `The event evt_1`, or `5 events`. */
const subjectOf = (nouns: string, ids: string[], article = 'The'): string =>
	ids.length === 1 ? `${article} ${nouns.slice(0, -1)} ${ids[0]}` : `${ids.length} ${nouns}`;

const wasOrWere = (ids: string[]): string => (ids.length === 1 ? 'was' : 'were');

/** Reports a group that is set aside, and the outcome of its last execution. */
export function setAsideError(node: INode, group: Group, outcome: Outcome): NodeOperationError {
	const { kind, attempt, unbegun } = group;
	const ids = memberIds(group);
	const failed = attempt === 1 ? 'the execution failed' : `${attempt} executions failed`;
	const isUnknown = outcome === 'unknown';
	const notBegun = `n8n ended ${unbegun} executions before they began`;
	const reason = outcome === 'ended before its first node' ? notBegun : failed;
	const why = isUnknown ? 'n8n stopped during the execution, so its outcome is unknown' : reason;
	const advice = isUnknown
		? 'Check what the execution has done, and retry it if it has not finished'
		: 'Find the failed executions in the list, and retry the last one once its cause is fixed';
	return new NodeOperationError(node, `${subjectOf(kind, ids)} ${wasOrWere(ids)} set aside: ${why}`, {
		description: `The trigger continues with the others. ${advice} (${ids.join(', ')}).`,
	});
}

/** Reports events or records that cannot be read, so that no execution starts for them yet. */
export function unreadError(node: INode, { kind }: Group, failures: LoadFailure[], fate: 'waits' | 'set aside'): NodeOperationError {
	const ids = failures.flatMap((failure) => failure.ids);
	const subject = subjectOf(kind, ids);
	const [failure] = failures;
	const reason = failure?.error.message ?? '';
	if (fate === 'waits') {
		return new NodeOperationError(node, `${subject} could not be read yet: ${reason}`, {
			description: `The trigger tries again, and meanwhile continues with the others (${ids.join(', ')}).`,
		});
	}
	return new NodeOperationError(node, `${subject} ${wasOrWere(ids)} set aside and started no execution: ${reason}`, {
		description: `The trigger continues with the others. Check what the credential may read, then handle the records yourself (${ids.join(', ')}).`,
	});
}

/** Reports open records that a new beginning has left behind. */
export function abandonedError(node: INode, records: string[]): NodeOperationError {
	const subject = `${subjectOf('pending records', records)} ${wasOrWere(records)}`;
	return new NodeOperationError(node, `${subject} set aside because the trigger now starts from another point`, {
		description: `No execution starts for them (${records.join(', ')}). To start the workflow for changes that had no execution, set Start On to Events, and Start From to A Date before them. Retry failed executions in the list of executions, and read the other records by ID.`,
	});
}

/** Reports an execution that has begun and whose end n8n does not report. */
export function silentError(node: INode, group: Group): NodeOperationError {
	const subject = subjectOf(group.kind, memberIds(group), 'the');
	return new NodeOperationError(node, `For an hour, n8n has not reported how the execution for ${subject} ended`, {
		description:
			'The trigger waits for it. If the list of executions does not show it as running, n8n has lost it: restart the main process of n8n, and the trigger continues.',
	});
}
