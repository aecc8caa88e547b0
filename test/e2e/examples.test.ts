import type { INode, IRunExecutionData } from 'n8n-workflow';
import { listExamples, readExample } from '../../demo/examples.ts';
import { sandboxCredential, theN8n } from './harness/access.ts';

const MANUAL = 'n8n-nodes-base.manualTrigger';
const EVENTS = 'n8n-nodes-crm-platform.crmPlatformTrigger';

/** How many items came out of the node that ran last. */
function outputOf({ resultData: { lastNodeExecuted, runData } }: IRunExecutionData): number {
	return runData[lastNodeExecuted ?? '']?.[0]?.data?.['main']?.[0]?.length ?? 0;
}

/** Whether the trigger leaves out what its own workflow writes. */
const ignoresItself = ({ parameters }: INode): boolean =>
	((parameters.filters as { ignore?: string[] } | undefined)?.ignore ?? []).includes('workflow');

test.each(listExamples())('The example %s runs as it is delivered', async (file) => {
	const n8n = theN8n();
	const { type, name, data } = sandboxCredential();
	const id = await n8n.createCredential({ type, name, data });
	const workflow = readExample(file, { type, id, name });
	const named = (one: string) => workflow.nodes.find((node) => node.type === one);
	const workflowId = await n8n.createWorkflow(workflow);
	const listens = named(EVENTS) !== undefined;
	if (listens) await n8n.activateWorkflow(workflowId);

	const { status, data: execution } = await n8n.runWorkflow(workflowId, named(MANUAL)?.name ?? '');

	expect(status).toBe('success');
	expect(outputOf(execution)).toBeGreaterThan(0);
	if (!listens) return;
	if (ignoresItself(named(EVENTS)!)) return await n8n.deactivateWorkflow(workflowId);
	// What was run by hand has caused an event, which starts the workflow in production.
	for (const started of await n8n.executionsOf(workflowId, 2)) {
		expect(started.status).toBe('success');
		expect(outputOf(started.data)).toBeGreaterThan(0);
	}
	await n8n.deactivateWorkflow(workflowId);
});
