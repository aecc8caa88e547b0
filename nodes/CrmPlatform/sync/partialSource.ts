import type { Query } from '../api/http/path';
import { storedParameter } from '../mapping/storedParameter';
import type { Execution } from '../model';
import { nodeContext } from '../writing/runState';

/**
 * Refuses to change records missing in the source if the items are only a part of it: records of a loop's other
 * rounds would be deleted. A loop over several scopes has all records of each.
 *
 * @throws Error in the user's words
 */
export function refusePartialSource({ n8n, resource }: Execution, scope: Query): void {
	const { name } = n8n.getNode();
	const run = n8n.getWorkflowDataProxy(0).$runIndex as number;
	const runs = (nodeContext(n8n).scopes ??= {}) as Record<string, number>;
	const isAgain = (runs[JSON.stringify([resource.path, scope])] ??= run) !== run;
	const isLoop = ({ type, name: loop }: { type: string; name: string }) =>
		type === 'n8n-nodes-base.splitInBatches' && n8n.getParentNodes(loop).some((parent) => parent.name === name);
	const filters = storedParameter(n8n, 'filters');
	const isOneScope = !JSON.stringify(filters).includes('"=');
	if (isAgain || (isOneScope && n8n.getParentNodes(name).some(isLoop))) throw new Error(partOnly);
}

const partOnly =
	'When Missing in the Source: the node runs several times in this execution for the same records, as in a loop. Each run has only some records of the source, so the others would be deleted. Nothing was written. Take the node out of the loop, or choose Leave It.';
