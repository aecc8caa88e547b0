import type { IDataObject } from 'n8n-workflow';

import { sendBatch } from '../../nodes/CrmPlatform/api/batch';

const description = { path: '/batch/update', items: 'records', maximum: 100 };

/** The outcome of each item where the service answers so: the name of its record, or the problem. */
async function outcomes(items: IDataObject[], results: unknown) {
	const send = async () => ({ status: 207, headers: {}, body: { results } });
	const outcome = await sendBatch(send, { description, path: '/v1/contacts/batch/update', items });
	return outcome.map((one) => {
		if (one instanceof Error) return one.message;
		return 'record' in one ? one.record.name : one.problem.message;
	});
}

const untold = 'The service returned no result for this record';
const known = ['a', 'b', 'c'].map((id) => ({ id }));
const done = (id: string) => ({ status: 200, data: { id, name: `record ${id}` } });

test('results without index find their items by id, whatever their order', async () => {
	expect(await outcomes(known, [done('c'), done('a'), done('b')])).toEqual(['record a', 'record b', 'record c']);
});

test('an id beside the record counts as well, and an index that contradicts it does not', async () => {
	const failed = { status: 422, id: 'c', index: 0, error: { detail: 'c is refused' } };
	expect(await outcomes(known, [failed, done('b'), done('a')])).toEqual(['record a', 'record b', 'c is refused']);
});

test('results that name neither are in order where there is one for each item', async () => {
	const created = [{ status: 201, data: { id: 'x', name: 'first' } }, { status: 201, data: { id: 'y', name: 'second' } }];
	expect(await outcomes([{}, {}], created)).toEqual(['first', 'second']);
	expect(await outcomes([{}, {}, {}], created)).toEqual([untold, untold, untold]);
});

test('two items for one record take its results in order', async () => {
	const results = [{ status: 200, data: { id: 'a', name: '1' } }, { status: 200, data: { id: 'a', name: '2' } }];
	expect(await outcomes([{ id: 'a' }, { id: 'a' }], results)).toEqual(['1', '2']);
});

test('an error in a result of success is an error', async () => {
	const results = [{ index: 0, status: 200, error: { detail: 'a is refused' } }, { index: 1, ...done('b') }];
	expect(await outcomes(known.slice(0, 2), results)).toEqual(['a is refused', 'record b']);
});

test.each([null, 'text', [null, 7], [{ index: 99, status: 200 }], [{ index: -1, status: 200 }]])(
	'results that cannot be read leave their items open: %j',
	async (results) => {
		expect(await outcomes(known.slice(0, 1), results)).toEqual([untold]);
	},
);
