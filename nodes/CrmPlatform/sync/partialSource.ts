import type { IExecuteFunctions } from 'n8n-workflow';

import { parseBoolean } from '../values/parsers';
import { completeInput } from './syncProperties';

/**
 * Refuses to change records missing in the source if the items may be a part of it: records of the other parts would be
 * deleted. n8n does not tell a sub-workflow how often it was called.
 *
 * @throws Error in the user's words
 */
export function refusePartialSource(n8n: IExecuteFunctions): void {
	const { displayName, name, default: unset } = completeInput;
	if (parseBoolean(displayName, n8n.getNodeParameter(name, 0, unset), { otherwise: false })) return;
	const node = n8n.getNode().name;
	const isLoop = ({ type, name: loop }: { type: string; name: string }) =>
		type === 'n8n-nodes-base.splitInBatches' && n8n.getParentNodes(loop).some((parent) => parent.name === node);
	const isRepeated = (n8n.getWorkflowDataProxy(0).$runIndex as number) > 0 || n8n.getParentNodes(node).some(isLoop);
	if (isRepeated) throw new Error(partOnly('runs several times in this execution'));
	const isSubExecution = n8n.getMode() === 'integrated' || n8n.getExecutionContext()?.parentExecutionId !== undefined;
	if (isSubExecution) throw new Error(partOnly('is in a sub-workflow, which may run several times'));
}

const partOnly = (cause: string) => `When Missing in the Source: the node ${cause}. `
	+ 'If each run has only some records of the source, the others would be deleted, so nothing was written. '
	+ 'Pass in all records at once, or choose Leave It. If each run has all records of its scope, turn on Input Is Complete.';
