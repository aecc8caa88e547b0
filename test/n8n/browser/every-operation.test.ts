import { randomUUID } from 'node:crypto';
import { inARow, workflowNode } from '../../../demo/workflow-node.ts';
import { adminMenu, everydayMenu } from '../../../nodes/CrmPlatform/resources';
import { ofSandbox, theN8n } from '../harness/access.ts';
import { recordLifecycles } from '../harness/record-lifecycles.ts';
import { itemsOf, nodeTypeFor, triggerName } from '../harness/run-n8n-node.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';

const nowhere = {
	contactId: '', userId: '', stageId: '', objectKey: '', withNote: { contact: '', company: '', deal: '', ticket: '' },
};

describe('In a real n8n,', () => {
	const n8n = theN8n();
	let found: typeof nowhere;

	beforeAll(async () => {
		const first = async (path: string) => (await callSandbox('GET', path)).body.data[0]!;
		const pipeline = await first('/v1/pipelines');
		const stages = pipeline['stages'] as Array<{ id: string; kind: string }>;
		const key = `e2e${Date.now()}`;
		await createRecord('/v1/custom-objects', { key, label_singular: 'Boat', label_plural: 'Boats', primary_field: 'name' });
		await createRecord('/v1/custom-fields', { resource: `custom-objects/${key}/records`, key: 'name', label: 'Name', type: 'text' });
		const idOf = async (resource: string) => (await first(`/v1/${resource}`)).id;
		const withNote = {
			contact: await idOf('contacts'), company: await idOf('companies'), deal: await idOf('deals'), ticket: await idOf('tickets'),
		};
		const links = [['contacts', withNote.contact], ['companies', withNote.company], ['deals', withNote.deal], ['tickets', withNote.ticket]];
		await createRecord('/v1/notes', { body: 'Seen', links: links.map(([resource, id]) => ({ resource, id })) });
		found = {
			withNote,
			contactId: withNote.contact,
			userId: (await first('/v1/users')).id,
			stageId: stages.findLast(({ kind }) => kind === 'open')!.id,
			objectKey: key,
		};
	});

	test.each(recordLifecycles(nowhere).map(({ resource }) => resource))(
		'a workflow does all that can be done with %s',
		async (resource) => {
			const { steps, input } = recordLifecycles(found).find((life) => life.resource === resource)!;

			const credentials = await ofSandbox();
			const nodes = [
				workflowNode(triggerName, 'n8n-nodes-base.manualTrigger', 1, {}),
				...steps.map(({ name, operation, parameters, ...step }) =>
					workflowNode(name, nodeTypeFor(step.resource), 1, { ...step, operation, ...parameters }, { credentials }),
				),
			];
			const pinData = { [triggerName]: ((await input?.()) ?? [{}]).map((json) => ({ json })) };
			const id = await n8n.createWorkflow({ name: `Test ${randomUUID()}`, nodes, connections: inARow(nodes), pinData });
			const { status, data } = await n8n.runWorkflow(id, triggerName);

			const { error } = data.resultData;
			expect({ status, error: error && [error.message, error.description] }).toEqual({ status: 'success', error: undefined });
			for (const { name } of steps) {
				expect({ name, items: itemsOf(data, name) }).toEqual({ name, items: expect.arrayContaining([expect.anything()]) });
			}
			const versionOf = (name: string) => Number(itemsOf(data, name)[0]?.json['version'] ?? 0);
			const isUpdated = steps.some(({ name }) => name === 'update');
			expect(versionOf('update')).toBeGreaterThanOrEqual(isUpdated ? versionOf('get') + 1 : 0);
		},
	);
});

test('the workflows use every operation the node offers', () => {
	const used = recordLifecycles(nowhere).flatMap(({ steps }) =>
		steps.map(({ resource, operation }) => `${resource}: ${operation}`),
	);
	const offered = [...everydayMenu, ...adminMenu].flatMap(({ value, operations }) =>
		operations.map(({ option }) => `${value}: ${String(option.value)}`),
	);
	// Approvals wait for a person: approval.test.ts.
	expect([...new Set(used), 'task: sendAndWait'].sort()).toEqual(offered.sort());
});
