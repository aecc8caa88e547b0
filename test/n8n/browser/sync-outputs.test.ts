import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { ofSandbox, theN8n } from '../harness/access.ts';
import { actionNode, triggerName, workflowWith } from '../harness/run-n8n-node.ts';

/** The items of each output of CRM Platform Sync: Created, Updated, Deleted, Conflict, Unchanged, Error. */
async function outputsOf(input: IDataObject[], changed: Record<string, string> = {}) {
	const n8n = theN8n();
	const parameters = { resource: 'contact', matchOn: 'email', fieldsMode: 'automatic', preview: false, options: {} };
	const workflow = workflowWith({ credentials: await ofSandbox(changed), parameters, input, onError: 'continueErrorOutput' });
	for (const node of workflow.nodes) if (node.name === actionNode) node.type += 'Sync';
	const { status, data } = await n8n.runWorkflow(await n8n.createWorkflow(workflow), triggerName);
	const main = data.resultData.runData[actionNode]?.[0]?.data?.['main'] ?? [];
	return { status, outputs: main.map((items) => (items ?? []).map(({ json }) => json)) };
}

test('the error output comes after the five, and has the items that failed', async () => {
	const run = randomUUID();
	const email = (name: string) => `${name}-${run}@outputs.example`;
	const { status, outputs } = await outputsOf([
		{ email: email('good'), last_name: 'Good' },
		{ email: email('refused'), last_name: 'Refused', phone: 'none' },
		{ last_name: 'Without a key' },
	]);
	expect(status).toBe('success');
	expect(outputs.map(({ length }) => length)).toEqual([1, 0, 0, 0, 0, 2]);
	expect(outputs[0]).toEqual([expect.objectContaining({ email: email('good'), sync: expect.anything() })]);
	expect(outputs[5]).toEqual([
		expect.objectContaining({ last_name: 'Without a key', error: expect.stringContaining('no value for') }),
		expect.objectContaining({ email: email('refused'), error: expect.stringMatching(/phone/i) }),
	]);
});
