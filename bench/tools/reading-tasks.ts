import type { CrmRecord, AgentStep, TaskMaker } from './task.ts';

const always = async () => true;

const reading = (name: string, steps: AgentStep[]) => ({ name, steps, writes: 0, targets: [], isDone: always });

/** Finding, summing up and counting. */
export const readingTasks: TaskMaker[] = [
	async (crm, mark) => {
		await crm.post('/v1/contacts', { last_name: `Hale ${mark}`, email: `${mark}@find.example`, job_title: 'Astronomer' });
		return reading('what somebody does, by e-mail', [{ tool: 'search', right: { kind: 'contact', query: `${mark}@find.example` }, guess: { kind: 'person', query: `${mark}@find.example` }, learns: /contact/, sees: /Astronomer/ }]);
	},
	async (crm, mark) => {
		await crm.post('/v1/companies', { name: `Orbit ${mark}`, domain: `${mark}.example` });
		return reading('the domain of a company', [{ tool: 'search', right: { kind: 'company', query: `Orbit ${mark}` }, sees: new RegExp(`${mark}\\.example`) }]);
	},
	async (crm, mark) => {
		await crm.post('/v1/deals', { title: `Deal ${mark}`, amount: 4711 });
		return reading('the amount of a deal', [{ tool: 'search', right: { kind: 'deal', query: `Deal ${mark}` }, guess: { kind: 'deal', name: `Deal ${mark}` }, learns: /query/, sees: /4711/ }]);
	},
	async (crm, mark) => {
		await crm.post('/v1/tickets', { subject: `Broken ${mark}`, priority: 'urgent' });
		return reading('how urgent a ticket is', [{ tool: 'search', right: { kind: 'ticket', query: `Broken ${mark}` }, sees: /urgent/ }]);
	},
	async (crm, mark) => {
		const company = await crm.post('/v1/companies', { name: `Staff ${mark}` });
		for (const name of ['Ivy', 'Oak']) await crm.post('/v1/contacts', { first_name: name, last_name: mark, company_id: company.id });
		return reading('who works at a company', [
			{ tool: 'search', right: { kind: 'contact', filters: { company_id: company.id } }, guess: { kind: 'contact', filters: { employer: `Staff ${mark}` } }, learns: /company_id/, sees: /Ivy[^]*Oak|Oak[^]*Ivy/ },
		]);
	},
	async (crm, mark) => {
		const user = await anyUser(crm);
		const { id } = await crm.post('/v1/deals', { title: `Owned ${mark}`, owner_id: user.id });
		return reading('whose deal it is', [{ tool: 'get', right: { kind: 'deal', record: id }, guess: { kind: 'deal', record: `Ownd ${mark}` }, learns: new RegExp(id), sees: new RegExp(String(user['name'])) }]);
	},
	async (crm, mark) => {
		for (let i = 0; i < 3; i++) await crm.post('/v1/deals', { title: `Count ${mark}`, amount: 10 });
		return reading('how many deals there are', [{ tool: 'count', right: { kind: 'deal', filters: { title: `Count ${mark}` } }, sees: /"(count|total)\\*":3\b/ }]);
	},
	async (crm, mark) => {
		for (const status of ['lead', 'customer', 'customer']) await crm.post('/v1/contacts', { last_name: mark, lifecycle_stage: status });
		return reading('how many customers there are, by a label', [
			{ tool: 'count', right: { kind: 'contact', filters: { last_name: mark, lifecycle_stage: 'customer' } }, guess: { kind: 'contact', filters: { last_name: mark, lifecycle_stage: 'Buyer' } }, learns: /customer/i, sees: /"(count|total)\\*":2\b/ },
		]);
	},
	async (crm, mark) => {
		for (const amount of [100, 250.5]) await crm.post('/v1/deals', { title: `Sum ${mark}`, amount, currency: 'EUR' });
		return reading('what deals are worth', [{ tool: 'count', right: { kind: 'deal', filters: { title: `Sum ${mark}` }, sum: 'amount' }, sees: /350\.5/ }]);
	},
	async (crm, mark) => {
		for (const type of ['incident', 'incident', 'question']) await crm.post('/v1/tickets', { subject: `Topic ${mark}`, type });
		return reading('the top issue', [{ tool: 'count', right: { kind: 'ticket', query: mark, group_by: 'type' }, guess: { kind: 'ticket', query: mark, group_by: 'topic' }, learns: /type/, sees: /incident\\*","count\\*":2/ }]);
	},
	async (crm, mark) => {
		const user = await anyUser(crm);
		for (const owner of [user.id, null]) await crm.post('/v1/deals', { title: `Rep ${mark}`, amount: owner ? 900 : 10, currency: 'EUR', owner_id: owner });
		return reading('the best rep', [{ tool: 'count', right: { kind: 'deal', filters: { title: `Rep ${mark}` }, group_by: 'owner', sum: 'amount' }, sees: new RegExp(`${String(user['name'])}[^{}]*900`) }]);
	},
	async (crm, mark) => {
		for (const source of ['partner', 'event', 'partner']) await crm.post('/v1/deals', { title: `Source ${mark}`, amount: 50, currency: 'EUR', source });
		return reading('the best source', [{ tool: 'count', right: { kind: 'deal', filters: { title: `Source ${mark}` }, group_by: 'source', sum: 'amount' }, sees: /partner[^{}]*100/ }]);
	},
	async (crm, mark) => {
		for (const amount of [5, 5000]) await crm.post('/v1/deals', { title: `Large ${mark}`, amount });
		return reading('deals of at least 1,000', [{ tool: 'search', right: { kind: 'deal', filters: { title: `Large ${mark}`, amount: { gte: 1000 } } }, guess: { kind: 'deal', filters: { title: `Large ${mark}`, amount: { '>=': 1000 } } }, learns: /gte/, sees: /5000/ }]);
	},
	async (crm, mark) => {
		for (const amount of [1, 3, 2]) await crm.post('/v1/deals', { title: `Order ${mark}`, amount: amount * 1000 });
		return reading('the largest deal', [{ tool: 'search', right: { kind: 'deal', filters: { title: `Order ${mark}` }, sort: '-amount', limit: 1 }, guess: { kind: 'deal', filters: { title: `Order ${mark}` }, sort: 'amount desc', limit: 1 }, learns: /amount/, sees: /3000/ }]);
	},
];

/** An active user whose name no other user has. */
export async function anyUser(crm: { get(path: string): Promise<CrmRecord> }): Promise<CrmRecord> {
	const users = (await crm.get('/v1/users?status=active&limit=100'))['data'] as CrmRecord[];
	return users[1] ?? users[0]!;
}
