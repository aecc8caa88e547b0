import { errorsOf, inProcess, type Json } from '../harness/in-process.ts';

/** A deal, on a clock that the test moves. */
async function withDeal(values: object = {}) {
	const clock = { now: Date.parse('2026-02-03T04:05:06.000Z') };
	const sandbox = inProcess({ now: () => clock.now });
	const [sales, renewals] = await sandbox.all('/v1/pipelines?sort=position');
	const { status, body } = await sandbox.post('/v1/deals', { title: 'Fleet', ...values });
	const path = `/v1/deals/${body.id}`;
	const act = (action: string, input?: object) => sandbox.send('POST', `${path}/${action}`, input);
	const stage = (pipeline: Json, kind: string) =>
		pipeline.stages.find((candidate: Json) => candidate.kind === kind).id;
	return { ...sandbox, clock, sales, renewals, status, deal: body, path, act, stage };
}

test('a deal begins in the first open stage of the default pipeline', async () => {
	const { status, deal, sales, stage } = await withDeal();
	expect(status).toBe(201);
	expect(deal).toMatchObject({
		pipeline_id: sales.id,
		stage_id: stage(sales, 'open'),
		status: 'open',
		currency: 'EUR',
		stage_entered_at: '2026-02-03T04:05:06.000Z',
		closed_at: null,
	});
});

test('the status follows the stage, and moves record their time', async () => {
	const { patch, path, clock, sales, stage, deal } = await withDeal();
	clock.now += 1000;
	const won = await patch(path, { stage_id: stage(sales, 'won') });
	const at = '2026-02-03T04:05:07.000Z';
	expect(won.body).toMatchObject({ status: 'won', stage_entered_at: at, closed_at: at });
	clock.now += 1000;
	const renamed = await patch(path, { title: 'Trucks' });
	expect(renamed.body).toMatchObject({ stage_entered_at: at, closed_at: at });
	const back = await patch(path, { stage_id: deal.stage_id });
	expect(back.body).toMatchObject({ status: 'open', closed_at: null });
	expect(errorsOf(await patch(path, { status: 'won' }))).toEqual({ '/status': 'read_only' });
});

test('another pipeline needs one of its stages', async () => {
	const { patch, post, path, renewals, sales, stage } = await withDeal();
	const expected = { '/stage_id': 'reference_not_found' };
	expect(errorsOf(await patch(path, { pipeline_id: renewals.id }))).toEqual(expected);
	expect(errorsOf(await patch(path, { stage_id: stage(renewals, 'open') }))).toEqual(expected);
	const both = { pipeline_id: renewals.id, stage_id: stage(renewals, 'open') };
	expect((await patch(path, both)).body).toMatchObject(both);
	const mixed = { title: 'x', pipeline_id: renewals.id, stage_id: stage(sales, 'open') };
	expect(errorsOf(await post('/v1/deals', mixed))).toEqual(expected);
	const gone = { title: 'x', pipeline_id: 'pip_0' };
	expect(errorsOf(await post('/v1/deals', gone))).toEqual({ '/pipeline_id': 'reference_not_found' });
});

test('a deal is won, lost and reopened in one call', async () => {
	const { act, clock, sales, stage } = await withDeal();
	const won = await act('win');
	expect(won.status).toBe(200);
	expect(won.headers.get('ETag')).toBe('"2"');
	expect(won.body).toMatchObject({ status: 'won', stage_id: stage(sales, 'won'), version: 2 });
	clock.now += 1000;
	expect((await act('win')).body).toEqual(won.body);
	const lost = await act('lose', { lost_reason: 'Too dear' });
	expect(lost.body).toMatchObject({ status: 'lost', lost_reason: 'Too dear', closed_at: '2026-02-03T04:05:07.000Z' });
	const open = await act('reopen');
	expect(open.body).toMatchObject({ status: 'open', lost_reason: null, closed_at: null });
});

test('an action is a write like any other', async () => {
	const { send, post, path } = await withDeal();
	expect((await send('POST', '/v1/deals/dea_0/win')).status).toBe(404);
	const stale = await send('POST', `${path}/win`, undefined, { 'If-Match': '"7"' });
	expect(stale.status).toBe(412);
	expect(errorsOf(await post(`${path}/lose`, { reason: 'x' }))).toEqual({ '/reason': 'unknown_field' });
	expect(errorsOf(await post(`${path}/win?a=b`, {}))).toEqual({ a: 'unknown_parameter' });
	const key = { 'Idempotency-Key': 'k' };
	await send('POST', `${path}/win`, undefined, key);
	const again = await send('POST', `${path}/win`, undefined, key);
	expect(again.headers.get('Idempotent-Replayed')).toBe('true');
	expect((await send('PATCH', `${path}/win`)).headers.get('Allow')).toBe('POST');
});

test('the main contact is among the contacts, and all must exist', async () => {
	const { post } = inProcess();
	const [ana, eva] = [
		(await post('/v1/contacts', { last_name: 'Ana' })).body.id,
		(await post('/v1/contacts', { last_name: 'Eva' })).body.id,
	];
	const deal = await post('/v1/deals', { title: 'x', contact_id: ana, contact_ids: [eva, ana] });
	expect(deal.body.contact_ids).toEqual([ana, eva]);
	const response = await post('/v1/deals', { title: 'x', company_id: 'com_0', contact_ids: ['con_0'] });
	expect(errorsOf(response)).toEqual({ '/company_id': 'reference_not_found', '/contact_ids': 'reference_not_found' });
});

const stages = [{ name: 'Talk', kind: 'open' }, { name: 'Sold', kind: 'won' }, { name: 'Gone', kind: 'lost' }];

async function withPipeline() {
	const sandbox = inProcess();
	const { status, body } = await sandbox.post('/v1/pipelines', { name: 'Own', stages });
	return { ...sandbox, status, pipeline: body, path: `/v1/pipelines/${body.id}` };
}

test('stages get ids and positions', async () => {
	const { status, pipeline } = await withPipeline();
	expect(status).toBe(201);
	expect(pipeline.is_default).toBe(false);
	expect(pipeline.stages).toMatchObject(stages);
	expect(pipeline.stages.map(({ position }: Json) => position)).toEqual([0, 1, 2]);
	for (const { id } of pipeline.stages) expect(id).toMatch(/^stg_[0-9a-z]{26}$/);
});

test.each(['open', 'won', 'lost'])('a pipeline without a stage that is %s is refused', async (kind) => {
	const { post } = inProcess();
	const incomplete = stages.filter((stage) => stage.kind !== kind);
	const response = await post('/v1/pipelines', { name: 'x', stages: incomplete });
	expect(errorsOf(response)).toEqual({ '/stages': 'invalid_value' });
});

test('stages given with their id stay, others are new or deleted', async () => {
	const { patch, pipeline, path } = await withPipeline();
	const [talk, sold, gone] = pipeline.stages;
	const change = [{ ...talk, name: 'Call' }, { name: 'Offer', kind: 'open', position: 1 }, sold, gone];
	const { body } = await patch(path, { stages: change });
	expect(body.stages.map(({ name }: Json) => name)).toEqual(['Call', 'Offer', 'Sold', 'Gone']);
	expect(body.stages[0].id).toBe(talk.id);
	const fewer = await patch(path, { stages: [talk, sold, gone] });
	expect(fewer.body.stages).toEqual(pipeline.stages);
});

test('the service assigns the ids of stages', async () => {
	const { post, patch, pipeline, path } = await withPipeline();
	const foreign = [{ ...stages[0], id: 'stg_0' }, stages[1], stages[2]];
	const expected = { '/stages/0/id': 'reference_not_found' };
	expect(errorsOf(await post('/v1/pipelines', { name: 'x', stages: foreign }))).toEqual(expected);
	expect(errorsOf(await patch(path, { stages: foreign }))).toEqual(expected);
	const twice = [...pipeline.stages, pipeline.stages[0]];
	expect(errorsOf(await patch(path, { stages: twice }))).toEqual({ '/stages': 'invalid_value' });
});

test('a stage with deals in it stays and keeps its kind', async () => {
	const { post, patch, pipeline, path, delete: remove } = await withPipeline();
	const [talk, sold, gone] = pipeline.stages;
	const deal = await post('/v1/deals', { title: 'x', pipeline_id: pipeline.id, stage_id: sold.id });
	for (const newStages of [[talk, gone, stages[1]], [talk, { ...sold, kind: 'open' }, stages[1], gone]]) {
		const response = await patch(path, { stages: newStages });
		expect(response.status).toBe(409);
		expect(response.body.code).toBe('in_use');
	}
	expect((await remove(path)).body.code).toBe('in_use');
	await remove(`/v1/deals/${deal.body.id}`);
	expect((await remove(path)).status).toBe(204);
});

test('there is always exactly one default pipeline', async () => {
	const { all, get, patch, post, pipeline, path, delete: remove } = await withPipeline();
	const defaults = async () => (await all('/v1/pipelines?is_default=true')).map(({ id }) => id);
	const [first] = await defaults();
	expect((await patch(path, { is_default: true })).status).toBe(200);
	expect(await defaults()).toEqual([pipeline.id]);
	expect((await get(`/v1/pipelines/${first}`)).body.is_default).toBe(false);
	expect(errorsOf(await patch(path, { is_default: false }))).toEqual({ '/is_default': 'invalid_value' });
	expect((await remove(path)).body.code).toBe('in_use');
	await post('/v1/pipelines', { name: 'Other', stages, is_default: true });
	expect((await remove(path)).status).toBe(204);
});
