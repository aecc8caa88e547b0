import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { randomRuns } from '../support/random-runs.ts';
import { filterRows } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { runSync, syncIn, syncOf, type SyncRun } from '../support/sync-node.ts';

const sandbox = useSandbox();
const runs = randomRuns(25);

/** A person in a system. Keys are small numbers, so that they coincide. */
const person = fc.record({
	key: fc.nat(15),
	mailKey: fc.option(fc.nat(15), { nil: undefined, freq: 1 }),
	lacks: fc.constantFrom('', '', '', '', 'external_id', 'email'),
	last_name: fc.constantFrom('Ada', 'ada', 'Grace', null),
	phone: fc.constantFrom('+4930123456', '+34915550142', null),
	city: fc.constantFrom('Lyon', 'Bonn', null),
	capitals: fc.boolean(),
});
type Person = typeof person extends fc.Arbitrary<infer One> ? One : never;

/** A source whose keys do not contradict each other. */
const consistentSource = fc
	.uniqueArray(person, { maxLength: 7, selector: ({ key }) => key })
	.map((people) => people.map((entry): Person => ({ ...entry, mailKey: entry.key, lacks: '' })));

const choices = fc.record({
	missingInCrm: fc.constantFrom('create', 'create', 'create', 'leave'),
	differing: fc.constantFrom('update', 'update', 'update', 'leave'),
	missingInSource: fc.constantFrom('leave', 'delete', 'set'),
	isScoped: fc.boolean(),
	matchOn: fc.constantFrom('external_id', 'email'),
	hasSecond: fc.boolean(),
	fields: fc.subarray(['last_name', 'phone', 'address.city'] as const, { minLength: 1 }),
	maxDeletions: fc.constantFrom(1, 100),
	maxDeletionsShare: fc.constantFrom(10, 100),
});

let worlds = 0;
/** The number of worlds that agree completely: not all of them may end in conflicts. */
let agreed = 0;

/** A record as this world's systems name it; what is outside its scope has another job title. */
function recordOf(world: string, { key, mailKey = key, lacks, capitals, city, ...values }: Person, scope: string): IDataObject {
	const email = `${world}-${mailKey}@one.example`;
	return {
		...values,
		job_title: scope,
		external_id: lacks === 'external_id' ? null : `${world}-${key}`,
		email: lacks === 'email' ? null : capitals ? email.toUpperCase() : email,
		'address.city': city,
	};
}

async function fill(world: string, people: Person[], scopes: string[]): Promise<void> {
	for (const [i, entry] of people.entries()) {
		const { 'address.city': city, ...record } = recordOf(world, entry, scopes[i] ?? '');
		// Edits after which two records would share a key are refused, as always.
		await sandbox.call('POST', '/v1/contacts', { ...record, address: { city } });
	}
}

const stored = async (title: string) => (await sandbox.call('GET', `/v1/contacts?job_title=${title}&limit=500`)).body.data as IDataObject[];

const byItem = (run: SyncRun) =>
	(['created', 'updated', 'unchanged', 'deleted', 'conflict'] as const).map((name) =>
		run[name].map((item) => ({ item: item.pairedItem, ...syncIn(item) })),
	);

test('a preview shows what the run does; then both agree; then nothing is left to do', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.oneof(fc.array(person, { maxLength: 7 }), consistentSource),
			fc.array(fc.tuple(person, fc.boolean()), { maxLength: 8 }),
			choices,
			async (source, crm, { isScoped, matchOn, hasSecond, fields, ...rules }) => {
				const world = `w${++worlds}`;
				const inside = `${world}-in`;
				const outside = `${world}-out`;
				await fill(world, crm.map(([entry]) => entry), crm.map(([, isIn]) => (isIn ? inside : outside)));
				const untouched = JSON.stringify(await stored(outside));

				const items = source
					.map((entry) => recordOf(world, entry, inside))
					.map((record) =>
						Object.fromEntries(
							Object.entries(record).filter(([name]) =>
								[...fields, 'external_id', 'email', 'job_title'].includes(name),
							),
						),
					);
				const run = async (preview: boolean) =>
					await runSync({
						credential: sandbox.credential,
						continueOnFail: true,
						items,
						parameters: syncOf('contact', {
							...rules,
							preview,
							matchOn,
							alsoMatchOn: hasSecond ? (matchOn === 'email' ? 'external_id' : 'email') : '',
							// Without a scope, the records of all other worlds would be missing.
							...(isScoped ? {} : { missingInSource: 'leave' }),
							filters: filterRows(isScoped ? { job_title: inside } : {}),
							missingValues: { mappingMode: 'defineBelow', value: { lifecycle_stage: 'other' } },
							options: { emptyCells: 'clear' },
						}),
					});

				await sandbox.clear();
				const preview = await run(true);
				expect((await sandbox.requests()).filter(({ method }) => method !== 'GET')).toEqual([]);
				const first = await run(false);
				expect(byItem(first)).toEqual(byItem(preview));
				if (isScoped) expect(JSON.stringify(await stored(outside))).toBe(untouched);

				const all = [...(await stored(inside)), ...(await stored(outside))];
				for (const { json } of [...first.created, ...first.updated, ...first.unchanged]) {
					const { reason } = syncIn({ json });
					if (reason !== null || json.id === undefined) continue;
					expect(all).toContainEqual(expect.objectContaining({ id: json.id }));
				}

				await sandbox.clear();
				const second = await run(false);
				const freed = second.updated.length + second.created.length + second.deleted.length;
				// A conflict over a value that the first run has freed is the only thing left to do.
				if (first.conflict.length === 0) {
					expect(freed).toBe(0);
					expect((await sandbox.requests()).filter(({ method }) => method !== 'GET')).toEqual([]);
				}
				if (first.conflict.length === 0 && rules.differing === 'update' && rules.missingInCrm === 'create') {
					for (const { json, pairedItem } of second.unchanged) {
						const { item } = (pairedItem ?? {}) as { item?: number };
						if (item !== undefined) expectAgreement(items[item]!, json);
					}
					const understood = items.filter((_, i) => second.unchanged.some(({ pairedItem }) => (pairedItem as { item?: number })?.item === i));
					expect(understood).toHaveLength(items.length);
					if (items.length > 1) agreed += 1;
				}
			},
		),
		runs,
	);
	expect(agreed).toBeGreaterThan(runs.numRuns / 20);
});

function expectAgreement(item: IDataObject, record: IDataObject): void {
	const { 'address.city': city, email, ...values } = item;
	expect(record).toMatchObject(values);
	if (city !== undefined) expect((record.address as IDataObject | null)?.city ?? null).toBe(city);
	if (email !== undefined) expect(record.email).toBe(email === null ? null : String(email).toLowerCase());
}
