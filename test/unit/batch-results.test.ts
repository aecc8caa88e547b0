import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { sendBatch } from '../../nodes/CrmPlatform/api/batchRequest';
import { randomRuns } from '../random-runs.ts';

const description = { path: '/batch/update', items: 'records', maximum: 100 };

/** The outcome of each item where the service answers so: the name of its record, or the problem. */
async function outcomes(items: IDataObject[], results: unknown, areNew = false) {
	const send = async () => ({ status: 207, headers: {}, body: { results } });
	const outcome = await sendBatch(send, { description, path: '/v1/contacts/batch/update', items, areNew });
	return outcome.map((itemOutcome) => {
		if (itemOutcome instanceof Error) return itemOutcome.message;
		return 'record' in itemOutcome ? itemOutcome.record?.name : itemOutcome.problem.message;
	});
}

const noResult = 'The CRM returned no result for this record';
const itemsWithIds = ['a', 'b', 'c'].map((id) => ({ id }));
const done = (id: string) => ({ status: 200, data: { id, name: `record ${id}` } });

test('an id beside the record counts, and an index that contradicts it does not', async () => {
	const failed = { status: 422, id: 'c', index: 0, error: { detail: 'c is refused' } };
	expect(await outcomes(itemsWithIds, [failed, done('b'), done('a')])).toEqual(['record a', 'record b', 'c is refused']);
});

test.each([{ errors: [{ detail: 'email is taken' }] }, { success: false }])(
	'a result that says success and holds %j is a failure',
	async (resultFields) => {
		const [outcome] = await outcomes([{ id: 'a' }], [{ status: 200, id: 'a', ...resultFields }]);
		expect(outcome).toMatch('errors' in resultFields ? /email is taken|refused|invalid|valid/i : /./);
		expect(await outcomes([{ id: 'a' }], [{ status: 204, id: 'a' }])).toEqual([undefined]);
	},
);

test('an item to be created that is refused because of another one has its refusal', async () => {
	const items = ['a', 'b', 'c'].map((name) => ({ name }));
	const creation = (index: number, id: string, name: string) => ({ index, status: 201, data: { id, name } });
	const refused = { index: 1, id: 'x', status: 422, error: { detail: 'x is there' } };
	expect(await outcomes(items, [creation(0, 'x', 'a'), refused, creation(2, 'z', 'c')], true)).toEqual(['a', 'x is there', 'c']);
});

test.each([[[{ code: 'x', detail: 'not good' }]], [['not good']], ['not good'], [{ title: ['not good'] }]])(
	'errors beside the record of a result that says success fail it: %j',
	async (errors) => {
		const results = [{ index: 0, ...done('a'), errors }, { index: 1, ...done('b'), errors: [] }];
		const send = async () => ({ status: 207, headers: {}, body: { results } });
		const [first, second] = await sendBatch(send, {
			description, path: '/v1/contacts/batch/update', items: itemsWithIds.slice(0, 2), areNew: false,
		});
		expect(JSON.stringify(first)).toMatch(/not good.*may have been written|may have been written.*not good/);
		expect(second).toMatchObject({ record: { name: 'record b' } });
	},
);

test('an error in a result of success is an error', async () => {
	const results = [{ index: 0, status: 200, error: { detail: 'a is refused' } }, { index: 1, ...done('b') }];
	expect(await outcomes(itemsWithIds.slice(0, 2), results)).toEqual(['a is refused', 'record b']);
});

test('a list in place of a record is no record', async () => {
	expect(await outcomes([{ id: 'a' }], [{ status: 200, id: 'a', data: [{ name: 'other' }] }])).toEqual([undefined]);
});

test('ids may be numbers on one side and text on the other', async () => {
	const items = [{ id: '7' }, { id: '8' }, { id: 9 }];
	const results = [
		{ status: 200, data: { id: 9, name: 'nine' } }, { id: 7, status: 422, error: { detail: 'seven is refused' } },
		{ status: '200', data: { id: '8', name: 'eight' } },
	];
	expect(await outcomes(items, results)).toEqual(['seven is refused', 'eight', 'nine']);
});

test.each([{ status: 'error', message: 'refused' }, { code: 'E7', message: 'refused' }, { error: 'refused' }])(
	'an error in place of the record is an error: %j',
	async (data) => {
		expect(await outcomes([{}], [{ index: 0, status: 200, data }])).toEqual(['refused']);
	},
);

/** How a service reports on a batch. */
const reports = fc.record({
	count: fc.integer({ min: 1, max: 6 }),
	ids: fc.constantFrom('none', 'text', 'numbers'),
	index: fc.constantFrom('none', 'right', 'from 1', 'all 0', 'as text'),
	returnsId: fc.constantFrom('no', 'as text', 'as number'),
	order: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
	isOrdered: fc.boolean(),
	reported: fc.integer({ min: 0, max: 8 }),
});

test('whatever the form of the results, none goes to another item', async () => {
	await fc.assert(
		fc.asyncProperty(reports, async ({ count, ids, index, returnsId, order, isOrdered, reported }) => {
			const places = Array.from({ length: count }, (_, i) => i);
			const items = places.map((i) => ({
				name: `record ${i}`,
				kind: 'same',
				...(ids !== 'none' && { id: ids === 'text' ? String(100 + i) : 100 + i }),
			}));
			const sorted = isOrdered ? places : [...places].sort((a, b) => (order[a] ?? 0) - (order[b] ?? 0));
			// Some are left out, or come twice.
			const reportedPlaces = [...sorted, ...sorted].slice(0, Math.min(reported, 2 * count));
			const results = reportedPlaces.map((i) => ({
				...{ none: {}, right: { index: i }, 'from 1': { index: i + 1 }, 'all 0': { index: 0 }, 'as text': { index: String(i) } }[index],
				...(returnsId !== 'no' && { id: returnsId === 'as text' ? String(100 + i) : 100 + i }),
				status: 200,
				data: { name: `Record ${i}`, kind: 'same' },
			}));
			const outcome = await outcomes(items, results);
			expect(outcome.map((itemOutcome, i) => itemOutcome === noResult || itemOutcome === `Record ${i}`)).toEqual(places.map(() => true));
			const isPlain = reportedPlaces.length === count && (ids !== 'none' && returnsId !== 'no') && index !== 'all 0';
			if (isPlain) expect(outcome).not.toContain(noResult);
		}),
		randomRuns(300),
	);
});
