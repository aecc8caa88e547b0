import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { allWrites, callerOf } from '../support/agent-tools.ts';
import { alteredService } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { failure, run } from '../support/node-runs.ts';
import { automatic, create, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const store = useBinaryStore();
const { importing } = fileRuns(sandbox, store);
const service = alteredService(sandbox);

const companies: IDataObject[] = [
	{ id: 7, name: 'Acme' }, { id: 10, name: 'Ten', external_id: 'hubspot:9' }, { id: 13, name: '1e1' }, { id: 15, name: '0x7' },
];
const page = (data: IDataObject[]) => ({ status: 200, body: JSON.stringify({ data, next_cursor: null, total: data.length }) });
let sentIds: unknown[];

/** The sandbox, with whole numbers as the ids of companies. */
beforeEach(() => {
	sentIds = [];
	service.alter({
		answer: (text, { url }) => {
			if (!url.pathname.endsWith('/openapi.json')) return text;
			const isLink = (value: unknown): value is IDataObject =>
				typeof value === 'object' && value !== null && (value as IDataObject)['x-resource'] === 'companies';
			const numbered = (_: string, value: unknown) =>
				isLink(value) ? { title: 'Company', type: 'integer', 'x-resource': 'companies' } : value;
			return JSON.stringify(JSON.parse(text), numbered);
		},
		request: ({ method, url, text }) => {
			const [ids, key] = ['ids', 'external_id'].map((name) => url.searchParams.get(name)?.split(','));
			const isFound = (company: IDataObject) =>
				(ids?.includes(String(company.id)) ?? true) && (key?.includes(String(company.external_id)) ?? true);
			if (url.pathname === '/v1/companies') return page(companies.filter(isFound));
			if (url.pathname.startsWith('/v1/companies/')) return { status: 404, body: '{"title":"Not found"}' };
			if (url.pathname !== '/v1/contacts') return;
			if (method === 'GET') sentIds.push(url.searchParams.get('company_id'));
			else sentIds.push((JSON.parse(text) as IDataObject).company_id);
			return method === 'GET' ? page([]) : { status: 201, body: JSON.stringify({ id: 'con_1', ...(JSON.parse(text) as IDataObject) }) };
		},
	});
});

const writing = (company: unknown) => ({
	credential: service.credential,
	parameters: create('contact', automatic),
	items: [{ last_name: 'X', company_id: company }] as IDataObject[],
});
const filtering = (value: unknown, operator = 'is') => ({
	credential: service.credential,
	parameters: { ...getMany('contact'), filters: { rows: [{ field: 'company_id', operator, value }] } } as INodeParameters,
});

describe('a link to records with whole numbers as IDs takes', () => {
	test.each([
		['a name', 'Acme', 7],
		['a name that JavaScript reads as a number', '1e1', 13],
		['a name that JavaScript reads as a hexadecimal number', '0x7', 15],
		['an ID that says so', 'id:7', 7],
		['a name that says so', 'name:Acme', 7],
		['an ID as text', ' 7 ', 7],
		['an ID', 7, 7],
	])('%s: %s', async (_, nameOrId, id) => {
		await run(writing(nameOrId));
		await run(filtering(nameOrId));
		expect(sentIds).toEqual([id, String(id)]);
	});

	test.each(['1e2', '0xA', 'Nobody', 'id:Acme', '7.0'])('neither another number nor an unknown name: %s', async (nameOrId) => {
		expect((await failure(writing(nameOrId))).message).toMatch(/^Company: /);
		expect((await failure(filtering(nameOrId))).message).toMatch(/^Company: /);
		expect(sentIds).toEqual([]);
	});
});

const inFiles: Array<[text: string, failed: number]> = [['7', 1], ['12', 1], ['9', 0], ['Acme', 0], ['id:7', 0]];

test.each(inFiles)('in a file of another system, a number is not an ID of the CRM: %s', async (company, failed) => {
	const files = { data: await store.put(`Last Name,Company\nX,${company}\n`) };
	const parameters = importing({ sourceName: 'hubspot', preview: true });
	const { items: [item] } = await run({ credential: service.credential, parameters, files });
	expect(item!.json).toMatchObject({ failed });
	if (failed > 0) expect(JSON.stringify(item!.json.reasons)).toContain(`${company} → id:${company}`);
});

const linkToPipeline = /"type":"string"(?=[^{}]*"x-resource":"pipelines)/g;

test('a model that names a stage means one of the deal’s pipeline, and reads the IDs beside the names', async () => {
	const stages = { 1: ['Offer', 'Signed'], 2: ['Offer'] };
	const pipelines = Object.entries(stages).map(([id, names]) =>
		({ id: Number(id), name: `Pipeline ${id}`, stages: names.map((name, i) => ({ id: Number(id) * 10 + i, name, kind: 'open' })) }));
	const deal = { id: 'dea_1', title: 'Big', pipeline_id: 2, stage_id: 20, version: 1 };
	service.alter({
		answer: (text, { url }) =>
			(url.pathname.endsWith('/openapi.json') ? text.replaceAll(linkToPipeline, '"type":"integer"') : text),
		request: ({ method, url }) => {
			if (method !== 'GET') return { status: 500, body: 'Another pipeline’s stage was taken' };
			const ids = url.searchParams.get('ids')?.split(',');
			if (url.pathname === '/v1/pipelines') return page(pipelines.filter(({ id }) => ids?.includes(String(id)) ?? true));
			if (url.pathname === '/v1/deals') return page([deal]);
			return url.pathname === '/v1/deals/dea_1' ? { status: 200, body: JSON.stringify(deal) } : undefined;
		},
	});
	const call = await callerOf(service.credential, { writes: allWrites });
	const [read] = await call('get', { kind: 'deal', record: 'Big' });
	expect(read).toMatchObject({ pipeline_id: 2, pipeline_name: 'Pipeline 2', stage_id: 20 });
	const move = { kind: 'deal', action: 'moveToStage', record: 'Big', values: { stage: 'Signed' } };
	const answer = JSON.stringify(await call('act', move));
	expect(answer).toMatch(/Stage: .*Signed.*Nothing was written/s);
});
