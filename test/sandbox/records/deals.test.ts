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
