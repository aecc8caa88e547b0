import type { IDataObject } from 'n8n-workflow';

import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { automatic, byId, create, on } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 20 });
const { run } = nodeRuns(sandbox);
const files = fileRuns(sandbox, useBinaryStore());
let stages: Map<string, unknown>;
let pipelines: Map<string, unknown>;

beforeAll(async () => {
	// A second pipeline with a stage that another one has as well, and with two of one name.
	const names = [['Open', 'open'], ['Check', 'open'], ['check', 'open'], ['Won', 'won'], ['Lost', 'lost']] as const;
	const newStages = names.map(([name, kind], position) => ({ id: null, name, kind, position, probability: 0, rotting_days: null }));
	await sandbox.create('pipelines', { name: 'Partners', stages: newStages });
	const { body } = await sandbox.call('GET', '/v1/pipelines');
	const all = body.data as Array<{ id: string; name: string; stages: IDataObject[] }>;
	pipelines = new Map(all.map(({ id, name }) => [name, id]));
	stages = new Map(all.flatMap((pipeline) => pipeline.stages.map(({ id, name }) => [`${pipeline.name}: ${String(name)}`, id])));
});

async function createRecords(items: IDataObject[], resource = 'deal'): Promise<IDataObject[]> {
	const { items: output } = await run(create(resource, automatic), items, { continueOnFail: true });
	return output.map(({ json }) => json);
}

test('a stage is found by its name, within the pipeline of the same item', async () => {
	const [only, partnersDeal, other, prefixed] = await createRecords([
		{ title: 'A', stage_id: 'negotiation' },
		{ title: 'B', stage_id: 'Won', pipeline_id: 'Partners' },
		{ title: 'C', stage_id: 'Won', pipeline_id: pipelines.get('Sales') as string },
		{ title: 'D', stage_id: 'name:Negotiation' },
	]);
	expect([only?.stage_id, prefixed?.stage_id]).toEqual(Array(2).fill(stages.get('Sales: Negotiation')));
	expect(partnersDeal).toMatchObject({ stage_id: stages.get('Partners: Won'), pipeline_id: pipelines.get('Partners') });
	expect(other?.stage_id).toBe(stages.get('Sales: Won'));
});

test('a link of digits is an ID, even if a record has them as its name', async () => {
	await sandbox.create('companies', { name: '100123' });
	const [contact] = await createRecords([{ last_name: 'Ek', company_id: '100123' }], 'contact');
	expect(contact?.error).toBeDefined();
});

describe('moving a deal takes the stage', () => {
	const moved = async (stage: string, pipeline?: string) => {
		const [deal] = await createRecords([{ title: 'A' }]);
		const parameters = on('deal', 'moveToStage', deal!.id, {
			stageId: byId(stage),
			...(pipeline !== undefined && { pipelineId: byId(pipeline) }),
		});
		const { items } = await run(parameters, [{}], { continueOnFail: true });
		return items[0]!.json;
	};

	test('by its name, in the pipeline that is named', async () => {
		expect(await moved('negotiation')).toMatchObject({ stage_id: stages.get('Sales: Negotiation') });
		expect(await moved('Won', 'Partners')).toMatchObject({ stage_id: stages.get('Partners: Won') });
		expect(await moved(String(stages.get('Sales: Proposal')))).toMatchObject({ stage_id: stages.get('Sales: Proposal') });
	});

	test('only if the name is clear: otherwise the error lists the stages', async () => {
		expect((await moved('Won')).error).toMatch(
			/“Won” is the name of several stages in pipelines: \w+ of [^,]+, \w+ of .*\. Also map the field that links to pipelines/,
		);
		expect((await moved('Offer Sent', 'Partners')).error).toBe(
			'Stage: “Offer Sent” does not match any of the stages in pipelines. Use one of these, or the ID: Open, Check, check, Won, Lost.',
		);
		expect((await moved('Check', 'Partners')).error).toContain('is the name of several stages');
		expect((await moved('Nowhere')).error).toMatch(/^Stage: “Nowhere” does not match any of the stages in pipelines/);
	});
});

test('a tag and an assignee can be named', async () => {
	const [contact] = await createRecords([{ last_name: 'Ek' }], 'contact');
	const tag = await sandbox.create('tags', { name: 'Pilot Customer' });
	const tagged = on('recordTag', 'addTag', contact!.id, { kind: 'contact', tagId: byId('pilot customer') });
	expect((await run(tagged)).items[0]?.json.tag_ids).toEqual([tag.id]);
	const [ticket] = await createRecords([{ subject: 'Broken' }], 'ticket');
	const [user] = await sandbox.list('users?limit=1');
	const assigned = on('ticket', 'assign', ticket!.id, { assigneeId: byId(String(user!.email)) });
	expect((await run(assigned)).items[0]?.json).toMatchObject({ assignee_id: user!.id });
});

test('the links of a note are found by names', async () => {
	const company = await sandbox.create('companies', { name: 'Altamira', domain: 'altamira.example' });
	const contact = await sandbox.create('contacts', { email: 'moreno@altamira.example' });
	const links = [
		{ resource: 'companies', id: 'altamira.example' },
		{ resource: 'contacts', id: 'moreno@altamira.example' },
		{ resource: 'contacts', id: contact.id },
	];
	const [note, nobody] = await createRecords(
		[
			{ body: 'Called', links: JSON.stringify(links) },
			{ body: 'Called', links: [{ resource: 'contacts', id: 'nobody at all' }] },
		],
		'note',
	);
	expect((note?.links as IDataObject[]).map(({ id }) => id)).toEqual([company.id, contact.id, contact.id]);
	expect(nobody?.error).toMatch(/^Links: “nobody at all” does not match any record of contacts/);
});

test('for all rows of a file, the stages are read once', async () => {
	const rows = Array.from({ length: 600 }, (_, i) => `Deal ${i},Negotiation`);
	await sandbox.clear();
	const { json } = await files.importOf(['Title,Stage', ...rows].join('\n'), { kind: 'deal', importAs: 'create' });
	expect(json).toMatchObject({ done: 600, failed: 0 });
	expect((await sandbox.requests()).filter(({ path }) => path === '/v1/pipelines')).toHaveLength(1);
});
