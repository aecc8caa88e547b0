import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { randomRuns } from '../support/random-runs.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { filterRows } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { importOf, exportOf } = fileRuns(sandbox, useBinaryStore());

const text = fc.oneof(
	fc.string({ unit: 'grapheme', maxLength: 12 }),
	fc.stringMatching(/^['=+\-@\t",;\r\n \\sep=0-9.eE]{0,10}$/),
	fc.constantFrom("'=1", "''=1", 'true', '1e21', '007', '9007199254740993', 'null', '[]', '{}', ' , ', '\ufeffx', '__proto__', '\u202ex'),
// An empty cell is not a value.
).filter((cell) => cell.trim() !== '');
const number = fc.oneof(
	fc.double({ noDefaultInfinity: true, noNaN: true }),
	fc.integer(),
	fc.constantFrom(0.1, 0.30000000000000004, 9007199254740991, 9007199254740992, 2 ** 60, 1e17, 1e21, 1e300, 5e-324, 123456789012345.67),
).map(Math.abs);
const record = fc.record({
	name: text,
	description: text,
	address: fc.record({ street: text, city: text }),
	annual_revenue: fc.option(number, { nil: null }),
	employee_count: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: null }),
});

test('an export that is imported again changes no value, whatever the values', async () => {
	let run = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(record, { minLength: 10, maxLength: 40 }), fc.constantFrom('csv', 'ndjson'), async (records, fileFormat) => {
			run += 1;
			// Records that the service refuses are not exported.
			const items = records.map((generatedRecord, i) => ({ ...generatedRecord, external_id: `any-${run}-${String(i).padStart(3, '0')}` }));
			await sandbox.call('POST', '/v1/companies/batch/create', {
				items: items.map((item, i) => ({ ...item, name: item.name.trim() || `Name ${i}` })),
			});
			const query = {
				fileFormat,
				filters: filterRows({ 'external_id[starts_with]': `any-${run}-` }),
				options: { sort: 'id', outputFields: [...Object.keys(records[0]!), 'external_id'] },
			};
			const stored = async () =>
				(await sandbox.call('GET', `/v1/companies?limit=500&sort=id&external_id[starts_with]=any-${run}-`)).body.data as IDataObject[];
			const values = (all: IDataObject[]) =>
				all.map(({ name, description, address, annual_revenue, employee_count, external_id }) => ({
					name, description, address, annual_revenue, employee_count, external_id,
				}));
			const before = await stored();
			if (before.length === 0) return;
			const exported = await exportOf(query, 'company');
			await sandbox.call('POST', '/v1/companies/batch/delete', { items: before.map(({ id }) => ({ id })) });
			const { json, failed } = await importOf(exported.text, { fileFormat, kind: 'company' });
			expect({ refused: json.failed, failed, done: json.done }).toMatchObject({ refused: 0, done: before.length });
			expect(values(await stored())).toEqual(values(before));
			expect((await exportOf(query, 'company')).text).toBe(exported.text);
		}),
		{ ...randomRuns(12), endOnFailure: true },
	);
});
