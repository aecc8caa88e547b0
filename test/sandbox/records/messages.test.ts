import { errorsOf, inProcess } from '../harness/in-process.ts';

const begin = Date.parse('2026-02-03T04:05:06.000Z');
const outbound = { channel: 'email', direction: 'outbound', to: ['ana@x.example'], text: 'Hello' };
const inbound = { ...outbound, direction: 'inbound' };
const scheduled = { scheduled_at: '2026-02-03T05:05:06Z' };

/** A sandbox on a clock that the test moves, and a message in it. */
async function withMessage(values: object = {}) {
	const clock = { now: begin };
	const sandbox = inProcess({ now: () => clock.now });
	const { status, body } = await sandbox.post('/v1/messages', { ...outbound, ...values });
	const path = `/v1/messages/${body.id}`;
	const act = (action: string, input?: object) => sandbox.send('POST', `${path}/${action}`, input);
	const statusAfter = async (seconds: number) => {
		clock.now = begin + seconds * 1000;
		return (await sandbox.get(path)).body.status;
	};
	return { ...sandbox, clock, status, message: body, path, act, statusAfter };
}

test('a message changes its state as time passes, and records the time of each', async () => {
	const { status, message, statusAfter, get, path } = await withMessage();
	expect(status).toBe(201);
	expect(message).toMatchObject({ status: 'queued', conversation_id: expect.stringMatching(/^cnv_/) });
	expect(await statusAfter(0.5)).toBe('queued');
	expect(await statusAfter(1)).toBe('sending');
	expect(await statusAfter(2)).toBe('sent');
	expect(await statusAfter(3600)).toBe('delivered');
	expect((await get(path)).body).toMatchObject({
		sent_at: '2026-02-03T04:05:08.000Z',
		delivered_at: '2026-02-03T04:05:11.000Z',
		updated_at: '2026-02-03T04:05:11.000Z',
		updated_by: { type: 'system' },
		version: 4,
	});
});

test('a message that is refused fails with the reason', async () => {
	const { statusAfter, get, path } = await withMessage({ to: ['bounce@x.example'] });
	expect(await statusAfter(60)).toBe('failed');
	expect((await get(path)).body).toMatchObject({
		failed_at: '2026-02-03T04:05:08.000Z',
		sent_at: null,
		error: { code: 'recipient_refused' },
	});
});

test('a scheduled message waits for its time', async () => {
	const { message, statusAfter } = await withMessage(scheduled);
	expect(message.status).toBe('scheduled');
	expect(await statusAfter(3599)).toBe('scheduled');
	expect(await statusAfter(3600)).toBe('queued');
	expect(await statusAfter(3660)).toBe('delivered');
});

test('a scheduled message is sent at once, postponed or canceled', async () => {
	const response = await (await withMessage(scheduled)).act('send');
	expect(response.body).toMatchObject({ status: 'queued', scheduled_at: null });

	const { act } = await withMessage(scheduled);
	const later = await act('schedule', { scheduled_at: '2026-02-04T00:00:00Z' });
	expect(later.body).toMatchObject({ status: 'scheduled', scheduled_at: '2026-02-04T00:00:00.000Z' });
	expect(errorsOf(await act('schedule', { scheduled_at: '2026-01-01T00:00:00Z' }))).toEqual({
		'/scheduled_at': 'invalid_value',
	});
	expect(errorsOf(await act('schedule', {}))).toEqual({ '/scheduled_at': 'required' });
	expect((await act('cancel')).body.status).toBe('canceled');
	expect((await act('send')).body).toMatchObject({
		code: 'invalid_state_transition',
		from: 'canceled',
		to: 'queued',
		allowed: [],
	});
});

test('a message that was sent cannot be canceled', async () => {
	const { act, statusAfter } = await withMessage();
	expect(await statusAfter(60)).toBe('delivered');
	for (const action of ['cancel', 'send']) {
		expect((await act(action)).body).toMatchObject({ from: 'delivered', allowed: ['read'] });
	}
	const response = await act('schedule', { scheduled_at: '2026-02-04T00:00:00Z' });
	expect(response.body.code).toBe('invalid_state_transition');
});

test('a message cannot be changed unless it is still waiting to be sent', async () => {
	const waiting = await withMessage(scheduled);
	expect((await waiting.patch(waiting.path, { text: 'Bye' })).body.text).toBe('Bye');
	const { patch, path } = await withMessage();
	expect(errorsOf(await patch(path, { text: 'Bye', to: ['eva@x.example'] }))).toEqual({
		'/text': 'immutable',
		'/to': 'immutable',
	});
	expect(errorsOf(await patch(path, scheduled))).toEqual({ '/scheduled_at': 'immutable' });
	expect((await patch(path, { external_id: 'e' })).status).toBe(200);
});

test('no client sets the state of a message', async () => {
	const { post, patch, path } = await withMessage();
	const expected = { '/status': 'read_only', '/sent_at': 'read_only' };
	const claim = { status: 'sent', sent_at: '2026-02-03T04:05:06Z' };
	expect(errorsOf(await patch(path, claim))).toEqual(expected);
	expect(errorsOf(await post('/v1/messages', { ...outbound, ...claim }))).toEqual(expected);
	expect(errorsOf(await patch(path, { direction: 'inbound', channel: 'sms' }))).toEqual({
		'/direction': 'immutable',
		'/channel': 'immutable',
	});
});

test.each([
	[{ to: [] }, '/to', 'too_short'],
	[{ to: ['ana'] }, '/to/0', 'invalid_format'],
	[{ channel: 'sms' }, '/to/0', 'invalid_format'],
	[{ text: null }, '', 'required'],
	[{ direction: 'inbound', ...scheduled }, '/scheduled_at', 'invalid_value'],
	[{ ticket_id: 'tic_0' }, '/ticket_id', 'reference_not_found'],
])('a message with %j is refused', async (values, pointer, code) => {
	const { post } = inProcess();
	expect(errorsOf(await post('/v1/messages', { ...outbound, ...values }))).toEqual({ [pointer]: code });
});

test('a reply belongs to the conversation of the message it replies to', async () => {
	const { post, message } = await withMessage(inbound);
	expect(message.status).toBe('received');
	const reply = await post('/v1/messages', { ...outbound, in_reply_to_id: message.id });
	expect(reply.body.conversation_id).toBe(message.conversation_id);
});

test.each([
	['new', 'new'],
	['open', 'open'],
	['pending', 'open'],
	['on_hold', 'open'],
	['solved', 'open'],
	['closed', 'closed'],
])('a ticket that is %s is %s after a message is received', async (before, after) => {
	const { post, get } = inProcess({ now: () => begin });
	const me = (await get('/v1/users/me')).body.id;
	const contact = (await post('/v1/contacts', { last_name: 'x' })).body.id;
	const values = { subject: 'x', status: before, assignee_id: me };
	const ticket = (await post('/v1/tickets', values)).body.id;
	await post('/v1/messages', { ...inbound, ticket_id: ticket, contact_id: contact });
	const at = '2026-02-03T04:05:06.000Z';
	expect((await get(`/v1/tickets/${ticket}`)).body).toMatchObject({
		status: after,
		last_message_at: at,
		first_responded_at: null,
	});
	expect((await get(`/v1/contacts/${contact}`)).body.last_contacted_at).toBe(at);
});

test('the first outgoing message is the first response, at the time it is sent', async () => {
	const { post, get, clock } = await withMessage();
	const ticket = (await post('/v1/tickets', { subject: 'x', status: 'pending' })).body.id;
	await post('/v1/messages', { ...outbound, ticket_id: ticket });
	const read = async () => (await get(`/v1/tickets/${ticket}`)).body;
	expect(await read()).toMatchObject({ first_responded_at: null });
	clock.now += 10_000;
	const sentAt = '2026-02-03T04:05:08.000Z';
	expect(await read()).toMatchObject({ status: 'pending', first_responded_at: sentAt, last_message_at: sentAt });
});

test('a message without a contact gets the only contact with its address or number', async () => {
	const { post } = inProcess();
	const contact = async (values: object) => (await post('/v1/contacts', { last_name: 'x', ...values })).body.id;
	const contactOf = async (values: object) => (await post('/v1/messages', values)).body.contact_id;
	const ana = await contact({ email: 'ana@x.example', emails: [{ value: 'ana@home.example' }, { value: 'ana@x.example' }] });
	const eva = await contact({ phones: [{ value: '+34915550142' }] });
	for (let i = 0; i < 2; i++) await contact({ phone: '+34915550199' });
	expect(await contactOf({ ...inbound, from: 'Ana@Home.example', to: ['us@x.example'] })).toBe(ana);
	expect(await contactOf({ ...outbound, to: ['us@x.example', 'ana@x.example'] })).toBe(ana);
	expect(await contactOf({ ...outbound, channel: 'sms', to: ['+34915550142'] })).toBe(eva);
	expect(await contactOf({ ...inbound, from: 'us@x.example', to: ['ana@x.example'] })).toBeNull();
	expect(await contactOf({ ...outbound, channel: 'sms', to: ['+34915550199'] })).toBeNull();
	expect(await contactOf({ ...outbound, channel: 'other', to: ['ana@x.example', '+34915550142'] })).toBeNull();
	expect(await contactOf({ ...outbound, contact_id: eva })).toBe(eva);
});
