import { anyUser } from './reading-tasks.ts';
import { has, isOne, type CrmRecord, type AgentStep, type AgentTask, type TaskMaker } from './task.ts';

const task = (name: string, steps: AgentStep[], targets: CrmRecord[], isDone: AgentTask['isDone'], writes = steps.length): AgentTask => ({ name, steps, writes, targets: targets.map(({ id }) => id), isDone });

const change = (right: AgentStep['right'], more: Partial<AgentStep> = {}): AgentStep => ({ tool: 'change', right, ...more });
const act = (right: AgentStep['right'], more: Partial<AgentStep> = {}): AgentStep => ({ tool: 'act', right, ...more });

/** Changing, logging, moving. */
export const writingTasks: TaskMaker[] = [
	...(
		[
			['an amount', { amount: 12_000 }, { value: 12_000 }, /amount/, { amount: 12_000 }],
			['a source by its label', { source: 'cold_outreach' }, { source: 'Phone Calls' }, /cold_outreach/, { source: 'cold_outreach' }],
			['a date', { expected_close_date: '2027-03-01' }, { expected_close_date: 'soon' }, /date/i, { expected_close_date: '2027-03-01' }],
			['nothing in place of a value', { probability: null }, { chance: null }, /probability/, { probability: null }],
		] as Array<[string, object, object, RegExp, Record<string, unknown>]>
	).map(([name, values, guess, learns, after]): TaskMaker => async (crm, mark) => {
		const deal = await crm.post('/v1/deals', { title: `Update ${mark}`, amount: 1, probability: 33 });
		const target = { kind: 'deal', action: 'update', record: deal.id };
		return task(name, [change({ ...target, values }, { guess: { ...target, values: guess }, learns })], [deal], async () => await has(crm, `/v1/deals/${deal.id}`, after));
	}),
	async (crm, mark) => {
		const contact = await crm.post('/v1/contacts', { last_name: mark });
		const target = { kind: 'contact', action: 'update', record: contact.id };
		const right = { ...target, values: { lifecycle_stage: 'sales_qualified' } };
		return task('a stage of life', [change(right, { guess: { ...target, values: { lifecycle_stage: 'hot' } }, learns: /sales_qualified/ })], [contact], async () => await has(crm, `/v1/contacts/${contact.id}`, { lifecycle_stage: 'sales_qualified' }));
	},
	async (crm, mark) => {
		const user = await anyUser(crm);
		const deal = await crm.post('/v1/deals', { title: `Give ${mark}` });
		const target = { kind: 'deal', action: 'update', record: deal.id };
		return task('an owner by name', [change({ ...target, values: { owner_id: String(user['name']) } }, { guess: { ...target, values: { owner_id: 'the best rep' } }, learns: new RegExp(String(user['name'])) })], [deal], async () => await has(crm, `/v1/deals/${deal.id}`, { owner_id: user.id }));
	},
	async (crm, mark) => {
		const company = await crm.post('/v1/companies', { name: `Home ${mark}` });
		const right = { kind: 'contact', action: 'create', values: { last_name: mark, company_id: `Home ${mark}` } };
		const guess = { kind: 'contact', action: 'create', values: { surname: mark, company_id: `Home ${mark}` } };
		return task('a new contact of a company', [change(right, { guess, learns: /last_name/ })], [], async () => await isOne(crm, `/v1/contacts?last_name=${mark}&company_id=${company.id}`));
	},
	async (crm, mark) => {
		const right = { kind: 'ticket', action: 'create', values: { subject: `Leak ${mark}`, priority: 'high' } };
		const guess = { kind: 'ticket', action: 'create', values: { subject: `Leak ${mark}`, priority: 'P1' } };
		return task('a new ticket', [change(right, { guess, learns: /high/ })], [], async () => await isOne(crm, `/v1/tickets?q=${mark}&priority=high`));
	},
	async (crm, mark) => {
		const user = await anyUser(crm);
		const right = { kind: 'task', action: 'create', values: { title: `Call ${mark}`, assignee_id: String(user['name']) } };
		return task('a task for somebody', [change(right)], [], async () => await isOne(crm, `/v1/tasks?q=${mark}&assignee_id=${user.id}`));
	},
	async (crm, mark) => {
		const contact = await crm.post('/v1/contacts', { last_name: mark });
		const links = [{ resource: 'contacts', id: contact.id }];
		const right = { kind: 'note', action: 'create', values: { body: `Met ${mark}`, links } };
		return task('a note on a contact', [change(right, { guess: { kind: 'note', action: 'create', values: { text: `Met ${mark}`, links } }, learns: /body/ })], [], async () => await isOne(crm, `/v1/notes?q=${mark}`));
	},
	async (crm, mark) => {
		const contact = await crm.post('/v1/contacts', { last_name: mark });
		const values = { type: 'call', subject: `Rang ${mark}`, occurred_at: '2026-01-02T10:00:00Z', links: [{ resource: 'contacts', id: contact.id }] };
		const right = { kind: 'activity', action: 'create', values };
		return task('a call in the log', [change(right, { guess: { ...right, values: { ...values, type: 'phone' } }, learns: /call/ })], [], async () => await isOne(crm, `/v1/activities?q=${mark}`));
	},
	async (crm, mark) => {
		const email = `${mark}@upsert.example`;
		const contact = await crm.post('/v1/contacts', { email });
		const right = { kind: 'contact', action: 'upsert', match_on: 'email', values: { email, job_title: 'Pilot' } };
		return task('a contact, new or not', [change(right, { guess: { ...right, match_on: 'phone number' }, learns: /email/ })], [contact], async () => await has(crm, `/v1/contacts/${contact.id}`, { job_title: 'Pilot' }));
	},
	...(
		[
			['a deal to a stage', 'moveToStage', { stage: 'Proposal' }, { stage: 'Nearly there' }, /Proposal/, 'open'],
			['a deal that is won', 'win', {}, undefined, /./, 'won'],
			['a deal that is lost', 'lose', { lost_reason: 'price' }, { why: 'price' }, /lost_reason/, 'lost'],
		] as Array<[string, string, object, object | undefined, RegExp, string]>
	).map(([name, action, values, guess, learns, status]): TaskMaker => async (crm, mark) => {
		const deal = await crm.post('/v1/deals', { title: `Move ${mark}` });
		const target = { kind: 'deal', action, record: deal.id };
		const more = guess ? { guess: { ...target, values: guess }, learns } : { guess: { ...target, action: 'close' }, learns: new RegExp(action) };
		return task(name, [act({ ...target, values }, more)], [deal], async () => await has(crm, `/v1/deals/${deal.id}`, { status }));
	}),
	async (crm, mark) => {
		const user = await anyUser(crm);
		const ticket = await crm.post('/v1/tickets', { subject: mark });
		const target = { kind: 'ticket', action: 'solve', record: ticket.id };
		return task('a solved ticket', [act({ ...target, values: { assignee: String(user['name']) } }, { guess: target, learns: /assignee/i })], [ticket], async () => await has(crm, `/v1/tickets/${ticket.id}`, { status: 'solved' }));
	},
	async (crm, mark) => {
		const done = await crm.post('/v1/tasks', { title: mark });
		const right = { kind: 'task', action: 'complete', record: done.id };
		return task('a completed task', [act(right, { guess: { ...right, action: 'done' }, learns: /complete/ })], [done], async () => await has(crm, `/v1/tasks/${done.id}`, { status: 'completed' }));
	},
	async (crm, mark) => {
		const tag = await crm.post('/v1/tags', { name: `Tag ${mark}` });
		const contact = await crm.post('/v1/contacts', { last_name: mark });
		return task('a tag', [change({ kind: 'contact', action: 'tag', record: contact.id, tag: `Tag ${mark}` })], [contact], async () => await has(crm, `/v1/contacts/${contact.id}`, { tag_ids: [tag.id] }));
	},
	async (crm, mark) => {
		const contact = await crm.post('/v1/contacts', { last_name: mark });
		const right = { kind: 'contact', action: 'delete', record: contact.id };
		return task('a deletion', [change(right, { guess: { ...right, action: 'remove' }, learns: /delete/ })], [contact], async () => Number((await crm.get(`/v1/contacts?ids=${contact.id}`))['total']) === 0);
	},
];
