import { errorsOf, inProcess, type Json } from '../harness/in-process.ts';

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
