import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { allWrites, callerOf } from '../support/agent-tools.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();

type TestRecord = Awaited<ReturnType<typeof sandbox.create>>;

/** One call of a task. */
interface AgentStep {
	tool: 'search' | 'get' | 'count' | 'change' | 'act';
	right: IDataObject;
	/** The first attempt of a model that knows the tools only by their descriptions, and what its refusal must say. */
	guess?: IDataObject;
	learns?: RegExp;
	/** What the answer must say. */
	sees?: RegExp;
}

/** A task with its own records. */
interface AgentTask {
	steps: AgentStep[];
	/** The records that may be changed; those that are created have other ids. */
	targets?: TestRecord[];
	/** The state of these paths afterwards. */
	after?: Record<string, IDataObject>;
}

/** Creates a record with the mark of its task, so that the task finds it. */
type Maker = (mark: string, create: typeof sandbox.create, user: TestRecord) => Promise<AgentTask>;

const isOne = { total: 1 };
const step = (tool: AgentStep['tool'], right: IDataObject, more: Partial<AgentStep> = {}): AgentStep => ({ tool, right, ...more });
const guess = (values: IDataObject, learns: RegExp): Partial<AgentStep> => ({ guess: values, learns });

/** Changes a new deal. */
const dealTask =
	(tool: 'change' | 'act', right: IDataObject, wrong: IDataObject, learns: RegExp, after: IDataObject): Maker =>
	async (mark, create) => {
		const deal = await create('deals', { title: `Deal ${mark}`, amount: 1, probability: 33 });
		const target = { kind: 'deal', record: deal.id };
		return {
			steps: [step(tool, { ...target, ...right }, guess({ ...target, ...right, ...wrong }, learns))],
			targets: [deal],
			after: { [`deals/${deal.id}`]: after },
		};
	};

const update = (values: IDataObject) => ({ action: 'update', values });

const tasks: Record<string, Maker> = {
	'what somebody does, by email': async (mark, create) => {
		const email = `${mark}@find.example`;
		await create('contacts', { last_name: mark, email, job_title: 'Astronomer' });
		const wrong = guess({ kind: 'person', query: email }, /contact/);
		return { steps: [step('search', { kind: 'contact', query: email }, { ...wrong, sees: /Astronomer/ })] };
	},
	'who works at a company': async (mark, create) => {
		const company = await create('companies', { name: `Staff ${mark}` });
		for (const name of ['Ivy', 'Oak']) await create('contacts', { first_name: name, last_name: mark, company_id: company.id });
		const wrong = guess({ kind: 'contact', filters: { employer: company.name } }, /company_id/);
		return { steps: [step('search', { kind: 'contact', filters: { company: company.name } }, { ...wrong, sees: /Ivy.*Oak|Oak.*Ivy/s })] };
	},
	'whose deal it is': async (mark, create, user) => {
		const deal = await create('deals', { title: `Owned ${mark}`, owner_id: user.id });
		const wrong = guess({ kind: 'deal', record: `Ownd ${mark}` }, new RegExp(deal.id));
		return { steps: [step('get', { kind: 'deal', record: deal.id }, { ...wrong, sees: new RegExp(String(user.name)) })] };
	},
	'how many customers there are, by a label': async (mark, create) => {
		for (const stage of ['lead', 'customer', 'customer']) await create('contacts', { last_name: mark, lifecycle_stage: stage });
		const filters = { last_name: mark, lifecycle_stage: 'Customer' };
		const wrong = guess({ kind: 'contact', filters: { ...filters, lifecycle_stage: 'Buyer' } }, /customer/i);
		return { steps: [step('count', { kind: 'contact', filters }, { ...wrong, sees: /"count":2\b/ })] };
	},
	'the best rep': async (mark, create, user) => {
		for (const owner_id of [user.id, null]) await create('deals', { title: mark, amount: owner_id ? 900 : 10, currency: 'EUR', owner_id });
		const right = { kind: 'deal', filters: { title: mark }, group_by: 'owner', sum: 'amount' };
		const wrong = guess({ ...right, group_by: 'rep' }, /owner_id/);
		return { steps: [step('count', right, { ...wrong, sees: new RegExp(`${String(user.name)}[^{}]*900`) })] };
	},
	'the largest deals': async (mark, create) => {
		for (const amount of [5, 5000, 3000]) await create('deals', { title: mark, amount });
		const right = { kind: 'deal', filters: { title: mark, amount: { gte: 1000 } }, sort: '-amount', limit: 1 };
		return { steps: [step('search', right, { ...guess({ ...right, filters: { amount: { '>=': 1000 } } }, /gte/), sees: /5000/ })] };
	},
	'an amount': dealTask('change', update({ amount: 12_000 }), update({ value: 12_000 }), /amount/, { amount: 12_000 }),
	'a choice by its label': dealTask(
		'change', update({ source: 'Cold outreach' }), update({ source: 'Phone' }), /Cold Outreach/, { source: 'cold_outreach' },
	),
	'a deal in another stage': dealTask(
		'act', { action: 'Move to Stage', values: { stage: 'Proposal' } }, { values: { stage: 'Contract' } }, /Proposal/,
		{ status: 'open', version: 2 },
	),
	'a deal that is won': dealTask('act', { action: 'win' }, { action: 'close' }, /win/, { status: 'won' }),
	'a deal that is lost': dealTask(
		'act', { action: 'lose', values: { lost_reason: 'price' } }, { values: { why: 'price' } }, /lost_reason/,
		{ status: 'lost', lost_reason: 'price' },
	),
	'a tag': async (mark, create) => {
		const tag = await create('tags', { name: `Tag ${mark}` });
		const contact = await create('contacts', { last_name: mark });
		const right = { kind: 'contact', action: 'tag', record: contact.id, tag: tag.name };
		const wrong = guess({ ...right, tag: `Tga ${mark}` }, new RegExp(tag.id));
		return { steps: [step('change', right, wrong)], targets: [contact], after: { [`contacts/${contact.id}`]: { tag_ids: [tag.id] } } };
	},
	'a deletion': async (mark, create) => {
		const contact = await create('contacts', { last_name: mark });
		const right = { kind: 'contact', action: 'delete', record: contact.id };
		const wrong = guess({ ...right, action: 'remove' }, /delete/);
		return { steps: [step('change', right, wrong)], targets: [contact], after: { [`contacts?ids=${contact.id}`]: { total: 0 } } };
	},
	'a case that is read, ranked and routed': async (mark, create, user) => {
		const ticket = await create('tickets', { subject: mark, description: 'The invoice is wrong.' });
		const target = { kind: 'ticket', record: ticket.id };
		return {
			steps: [
				step('get', target, { sees: /invoice is wrong/ }),
				step('change', { ...target, action: 'update', values: { priority: 'high' } }),
				step('act', { ...target, action: 'assign', values: { assignee: user.name } }, guess({ ...target, action: 'assign' }, /assignee/i)),
			],
			targets: [ticket],
			after: { [`tickets/${ticket.id}`]: { priority: 'high', assignee_id: user.id } },
		};
	},
	'a contact that is found, a ticket and a note': async (mark, create) => {
		const { id } = await create('contacts', { last_name: mark });
		return {
			steps: [
				step('search', { kind: 'contact', query: mark }, { sees: new RegExp(id) }),
				step('change', { kind: 'ticket', action: 'create', values: { subject: mark, contact_id: id } }),
				step('change', { kind: 'note', action: 'create', values: { body: mark, links: [{ resource: 'contacts', id }] } }),
			],
			after: { [`tickets?contact_id=${id}`]: isOne, [`notes?q=${mark}`]: isOne },
		};
	},
};

/** How a careless model makes a step: its attempts, and of which the response is lost. */
const attemptsAt = ({ tool, right, guess: wrong }: AgentStep): Array<{ values: IDataObject; isLost?: true }> => [
	{ values: {} },
	...(wrong ? [{ values: wrong }] : []),
	...(tool === 'change' || tool === 'act' ? [{ values: right, isLost: true as const }] : []),
	{ values: right },
];

interface LoggedEvent {
	sequence: number;
	request: { id: string } | null;
	type: string;
	data: { object: { id: string } };
}

const eventsAfter = async (sequence: number) => await sandbox.list<LoggedEvent>(`events?limit=500&sequence[gt]=${sequence}`);

test.each(Object.keys(tasks))('the tools do each write once, and no other, for a careless model: %s', async (name) => {
	const mark = `m${randomUUID().slice(0, 8)}`;
	const user = (await sandbox.list('users?status=active&limit=2'))[1]!;
	const { steps, targets = [], after = {} } = await tasks[name]!(mark, sandbox.create, user);
	const last = (await sandbox.list<LoggedEvent>('events?sort=-sequence&limit=1'))[0]?.sequence ?? 0;
	const call = await callerOf(sandbox.credential, { writes: allWrites, options: { maxWait: 0 } });
	for (const agentStep of steps) {
		const { tool, right, learns, sees } = agentStep;
		let answer = '';
		for (const { values, isLost } of attemptsAt(agentStep)) {
			if (isLost) {
				await sandbox.faults(...['POST', 'PATCH', 'PUT', 'DELETE'].map((method) => ({ path: '/v1', method, drop: 'after', times: 1 })));
			}
			answer = JSON.stringify(await call(tool, values));
			await sandbox.clear();
			if (values !== right) expect(answer).toMatch(values === agentStep.guess ? learns! : /error/);
		}
		if (sees) expect(answer).toMatch(sees);
		// Without a preview, a deletion that was carried out is told as a record that no longer exists.
		if (right.action !== 'delete') expect(answer).not.toContain('"error"');
	}
	const events = await eventsAfter(last);
	const created = events.flatMap(({ type, data }) => (type.endsWith('.created') ? [data.object.id] : []));
	const writes = steps.filter(({ tool }) => tool === 'change' || tool === 'act').length;
	expect(new Set(events.map(({ request }) => request?.id)).size).toBe(writes);
	expect([...targets.map(({ id }) => id), ...created]).toEqual(expect.arrayContaining(events.map(({ data }) => data.object.id)));
	for (const [path, state] of Object.entries(after)) expect(await sandbox.read(path)).toMatchObject(state);
});
