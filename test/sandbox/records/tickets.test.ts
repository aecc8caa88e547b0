import { errorsOf, inProcess } from '../harness/in-process.ts';

/** A ticket that someone works on, on a clock that the test moves. */
async function withTicket(values: object = {}) {
	const clock = { now: Date.parse('2026-02-03T04:05:06.000Z') };
	const sandbox = inProcess({ now: () => clock.now });
	const me = (await sandbox.get('/v1/users/me')).body.id;
	const ticket = { subject: 'Help', assignee_id: me, ...values };
	const { status, body } = await sandbox.post('/v1/tickets', ticket);
	const path = `/v1/tickets/${body.id}`;
	const become = (state: string | null) => sandbox.patch(path, { status: state });
	return { ...sandbox, clock, me, status, ticket: body, path, become };
}

const states = ['new', 'open', 'pending', 'on_hold', 'solved', 'closed'];
const moves: Record<string, string[]> = {
	new: ['open', 'pending', 'on_hold', 'solved', 'closed'],
	open: ['pending', 'on_hold', 'solved', 'closed'],
	pending: ['open', 'on_hold', 'solved', 'closed'],
	on_hold: ['open', 'pending', 'solved', 'closed'],
	solved: ['open', 'pending', 'on_hold', 'closed'],
	closed: [],
};

test('a ticket begins new and normal, with the next number', async () => {
	const { status, ticket, post, path, delete: remove } = await withTicket();
	expect(status).toBe(201);
	expect(ticket).toMatchObject({ number: 1, status: 'new', priority: 'normal', solved_at: null });
	await remove(path);
	expect((await post('/v1/tickets', { subject: 'x' })).body.number).toBe(2);
	expect(errorsOf(await post('/v1/tickets', { subject: 'x', number: 7 }))).toEqual({ '/number': 'read_only' });
});

test.each(states)('a ticket that is %s changes to its allowed states, and to no other', async (from) => {
	for (const to of states) {
		const { become } = await withTicket({ status: from });
		const { status, body } = await become(to);
		const isLegal = from === to || moves[from]!.includes(to);
		expect({ to, status }).toEqual({ to, status: isLegal ? 200 : 409 });
		if (isLegal) continue;
		expect(body).toMatchObject({ code: 'invalid_state_transition', from, to, allowed: moves[from] });
	}
});

test('a refused change of status changes nothing else either', async () => {
	const { patch, get, path, ticket } = await withTicket({ status: 'closed' });
	expect((await patch(path, { status: 'open', subject: 'x' })).status).toBe(409);
	expect((await get(path)).body).toEqual(ticket);
	expect((await patch(path, { satisfaction: 'good' })).status).toBe(200);
});

test('a status that is cleared would be new again, which is refused', async () => {
	const { become } = await withTicket({ status: 'open' });
	expect((await become(null)).body).toMatchObject({ from: 'open', to: 'new' });
});

test('solving needs an assignee', async () => {
	const { patch, path, become, me } = await withTicket({ assignee_id: null });
	const missing = { '/assignee_id': 'required' };
	expect(errorsOf(await become('solved'))).toEqual(missing);
	const solved = await patch(path, { status: 'solved', assignee_id: me });
	expect(solved.status).toBe(200);
	expect(errorsOf(await patch(path, { assignee_id: null }))).toEqual(missing);
});

test('solving, reopening and closing record their times', async () => {
	const { become, clock } = await withTicket();
	const first = await become('solved');
	expect(first.body).toMatchObject({ solved_at: '2026-02-03T04:05:06.000Z', closed_at: null });
	expect((await become('open')).body.solved_at).toBeNull();
	clock.now += 1000;
	await become('solved');
	clock.now += 1000;
	expect((await become('closed')).body).toMatchObject({
		solved_at: '2026-02-03T04:05:07.000Z',
		closed_at: '2026-02-03T04:05:08.000Z',
	});
});

test('a ticket cannot follow up itself, and the records it names must exist', async () => {
	const { patch, path, ticket } = await withTicket();
	const itself = await patch(path, { follow_up_of_id: ticket.id });
	expect(errorsOf(itself)).toEqual({ '/follow_up_of_id': 'invalid_value' });
	const nobody = { contact_id: 'x', company_id: 'x', deal_id: 'x', assignee_id: 'x', owner_id: 'x' };
	expect(errorsOf(await patch(path, nobody))).toEqual(
		Object.fromEntries(Object.keys(nobody).map((field) => [`/${field}`, 'reference_not_found'])),
	);
});

test('tickets are found by their number', async () => {
	const { all, ticket } = await withTicket();
	const find = async (query: string) => (await all(`/v1/tickets?${query}`)).map(({ id }) => id);
	expect(await find('number=1')).toEqual([ticket.id]);
	expect(await find('q=1 help')).toEqual([ticket.id]);
	expect(await find('status=open,pending')).toEqual([]);
});

test.each(['new', 'open', 'pending', 'on_hold'])('closing a ticket that is %s solves it, in one call', async (from) => {
	const { become, get } = await withTicket({ status: from });
	const { status, body } = await become('closed');
	const at = '2026-02-03T04:05:06.000Z';
	expect([status, body.solved_at, body.closed_at, body.version]).toEqual([200, at, at, 2]);
	const { data } = (await get('/v1/events?type=ticket.*')).body;
	const types = data.map(({ type }: { type: string }) => type).filter((type: string) => !/created|assigned/.test(type));
	expect(types.toSorted()).toEqual(['ticket.solved', 'ticket.status_changed', 'ticket.updated']);
});

test('a ticket that was solved is not solved again by closing it', async () => {
	const { become, get } = await withTicket({ status: 'open' });
	for (const status of ['solved', 'closed']) await become(status);
	expect((await get('/v1/events?type=ticket.solved')).body.total).toBe(1);
	expect((await get('/v1/events?type=ticket.status_changed')).body.total).toBe(2);
});
