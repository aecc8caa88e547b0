import { useSandbox } from '../support/sandbox.ts';
import { teamsIn } from '../support/sync-node.ts';

const sandbox = useSandbox();
const { add, change, counts, newTeam, run } = teamsIn(sandbox);
const stored = async (id: unknown) => await sandbox.read(`contacts/${String(id)}`);

test('a record that belongs to another item is not deleted or set as missing, and the items around it are written', async () => {
	const { records, filters } = newTeam(3);
	const [theirs] = await add(records);
	const source = records.map((record, i) =>
		i === 0 ? { ...record, external_id: 'ours too', last_name: 'Ours' } : { ...record, first_name: 'New' },
	);
	const result = await run(source, { alsoMatchOn: 'email', filters, missingInSource: 'delete', maxDeletionsShare: 100 });
	expect(counts(result)).toEqual([0, 2, 0, 0, 1]);
	expect(await stored(theirs!.id)).toEqual(theirs);
});

test('an addition of the CRM to an object of a list is an edit of it, though Agreed Values do not have it', async () => {
	const { team, records } = newTeam(1);
	const mail = (name: string) => `${team}-${name}@source.example`;
	const { email: _, ...rest } = records[0]!;
	const [createdContact] = await add([{ ...rest, emails: [{ value: mail('a') }] }]);
	const agreed = { emails: [{ value: mail('a'), primary: true }] };
	await change(createdContact!.id, { emails: [{ value: mail('a'), label: 'private' }] });
	const item = { ...rest, emails: [{ value: mail('b') }], seen: 1, agreed };
	const { conflict } = await run([item], { versionField: 'seen', agreedField: 'agreed', bothChanged: 'conflict' });
	expect(conflict).toHaveLength(1);
	expect((await stored(createdContact!.id)).emails).toMatchObject([{ value: mail('a'), label: 'private' }]);
});

test('Agreed Values under labels are refused: ignored, they would let the source overwrite an edit of the CRM', async () => {
	const { records } = newTeam(1);
	const [createdContact] = await add(records);
	await change(createdContact!.id, { last_name: 'Edited' });
	const item = { ...records[0]!, seen: 1, agreed: { 'Last Name': records[0]!.last_name } };
	await expect(run([item], { versionField: 'seen', agreedField: 'agreed', bothChanged: 'source' })).rejects.toThrow(
		/“Last Name” is a field/,
	);
	expect(await stored(createdContact!.id)).toMatchObject({ last_name: 'Edited' });
});
