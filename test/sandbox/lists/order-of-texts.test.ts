import { inProcess, type Json } from '../harness/in-process.ts';

const names = [
	'zebra', 'Zulu', 'apple', 'Äpfel', 'apfel', 'Ångström', 'Øre', 'oboe', 'straße', 'Strasse', '10', '9', '_x', '{y', 'Éclair', 'eclair',
	'Łódź', 'lodge', 'ελιά', 'яблоко', '例',
];

test('texts are ordered as people read them, page by page in both directions', async () => {
	const { post, all } = inProcess();
	for (const name of names) await post('/v1/companies', { name });
	const listed = async (sort: string) =>
		(await all(`/v1/companies?sort=${sort}&limit=2`)).map(({ name }: Json) => name as string);
	const collator = new Intl.Collator('en', { sensitivity: 'base' });
	const sorted = await listed('name');
	expect(sorted.toSorted()).toEqual(names.toSorted());
	// ICU compares marks only where nothing else differs; ours come first.
	const words = sorted.filter((name) => !/^[_{]/.test(name));
	expect(words).toEqual(words.toSorted(collator.compare));
	expect(sorted.slice(0, 2).toSorted()).toEqual(['_x', '{y']);
	expect((await listed('-name')).toReversed()).toEqual(sorted);
});
