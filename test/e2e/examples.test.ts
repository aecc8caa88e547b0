import { listExamples, readExample } from '../../demo/examples.ts';
import { sandboxCredential, theN8n } from './harness/access.ts';

test.each(listExamples())('The example %s runs as it is delivered', async (file) => {
	const n8n = theN8n();
	const { type, name, data } = sandboxCredential();
	const id = await n8n.createCredential({ type, name, data });
	const workflow = readExample(file, { type, id, name });
	const trigger = workflow.nodes.find((node) => node.type.endsWith('Trigger'));
	const workflowId = await n8n.createWorkflow(workflow);

	const { status, data: execution } = await n8n.runWorkflow(workflowId, trigger?.name ?? '');

	expect(status).toBe('success');
	const { lastNodeExecuted, runData } = execution.resultData;
	const output = runData[lastNodeExecuted ?? '']?.[0]?.data?.['main']?.[0];
	expect(output?.length).toBeGreaterThan(0);
});
