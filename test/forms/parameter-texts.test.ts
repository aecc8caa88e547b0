import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, getMany, on, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 60 });
const { failure, run } = nodeRuns(sandbox);
const list = (more: IDataObject) => ({ ...getMany('contact'), ...more });
const count = async (more: IDataObject) => (await run(list(more))).items.length;

/** What variables and environments give is always text. */
describe('text from an expression is accepted as its value:', () => {
	test('Return All and Limit', async () => {
		expect(await count({ returnAll: '={{ "false" }}', limit: '={{ " 7 " }}' })).toBe(7);
		expect(await count({ returnAll: '={{ "True" }}', limit: 7 })).toBe(60);
	});

	test('Empty Cells, separately for each item', async () => {
		const contact = await sandbox.create('contacts', { last_name: 'Ek', job_title: 'Chief', first_name: 'Eva' });
		const { items } = await run(
			{ ...update('contact', contact.id, automatic), options: { emptyCells: '={{ $json.id ? "Leave" : " clear " }}' } },
			[{ id: 1, job_title: '', last_name: 'One' }, { first_name: '', last_name: 'Two' }],
		);
		expect(items.map(({ json }) => [json.first_name, json.job_title])).toEqual([['Eva', 'Chief'], [null, 'Chief']]);
	});
});

describe('any other text is refused with the parameter’s name, before anything is read or written:', () => {
	test.each<[IDataObject, string]>([
		[{ returnAll: '={{ undefined }}' }, 'Return All: enter true or false instead of nothing'],
		[{ returnAll: false, limit: '={{ "ten" }}' }, 'Limit: enter a whole number of at least 1 instead of “ten”.'],
		[{ changedSince: 'moment', moment: '2025-01-01', includeDeleted: '={{ "x" }}' }, 'Include Deleted: enter true or false'],
		[{ changedSince: 'moment', moment: '={{ "soon" }}' }, 'Date and Time: enter a date such as 2026-03-31'],
		[{ options: { maxWait: '={{ "a minute" }}' } }, 'Maximum Wait: enter a whole number of at least 0 instead of “a minute”.'],
	])('%j', async (more, message) => {
		await sandbox.clear();
		expect((await failure(list(more))).message).toContain(message);
		expect((await sandbox.requests()).filter(({ path }) => path === '/v1/contacts')).toEqual([]);
	});

	test.each<[INodeParameters, string]>([
		[
			{ operation: 'update', recordId: 'con_1', options: { emptyCells: '={{ "erase" }}' } },
			'Empty Cells: enter one of leave, clear instead of “erase”.',
		],
		[
			{ operation: 'update', recordId: 'con_1', options: { emptyCells: '={{ undefined }}' } },
			'Empty Cells: enter one of leave, clear instead of nothing',
		],
		[{ simplify: 'yes' }, 'Simplify: enter true or false instead of “yes”.'],
		[{ fieldsMode: 'magic' }, 'Specify Fields: enter one of each, automatic, json instead of “magic”.'],
	])('%j in a write', async (more, message) => {
		await sandbox.clear();
		const parameters = { ...create('contact', automatic), ...more };
		expect((await failure(parameters, [{ last_name: 'Ek', job_title: '' }])).message).toContain(message);
		expect(await sandbox.writes()).toEqual([]);
	});
});

describe('an option left from another operation, which the form no longer shows, has no effect', () => {
	test('Empty Cells of an update, in Create', async () => {
		const parameters = { ...create('contact', automatic), options: { emptyCells: 'clear' } };
		const { items } = await run(parameters, [{ last_name: 'Kept', custom_fields: '' }]);
		expect(items).toMatchObject([{ json: { last_name: 'Kept' } }]);
	});

	test.each([
		['Batch Size', { batchSize: '={{ "all" }}' }],
		['Write Once Per', { writeOncePer: '={{ undefined }}' }],
	])('%s of Create, in an action', async (_name, options) => {
		const { id } = await sandbox.create('deals', { title: 'Open' });
		const { items } = await run({ ...on('deal', 'win', id), options });
		expect(items).toMatchObject([{ json: { id, status: 'won' } }]);
	});
});
