import { resolve } from 'node:path';
import { readWordList } from '../support/word-list.ts';

const list = readWordList((file) => jest.requireActual(resolve(file)));

test('the list of user-visible texts has names, descriptions, choices and messages', () => {
	expect(list).toContain('- operation choice: Create or Update\n');
	expect(list).toContain('- options.maxWait: Maximum Wait (Seconds)\n');
	expect(list).toContain('- Correct the values and try again.\n');
});

test('no label is longer than n8n shows in a narrow form', () => {
	const [forms = ''] = list.split('## nodes/');
	const labels = [...forms.matchAll(/^- ([\w.]+): (.*)$/gm)].filter(([, name]) => !/^node$|Notice$/.test(name!));
	expect(labels.length).toBeGreaterThan(50);
	const maxLength = 'Changed Field Names or IDs'.length;
	expect(labels.map(([, , label]) => label!).filter((label) => label.length > maxLength)).toEqual([]);
});

test('a message that sends users to a parameter, a choice or a node uses its name in the form', () => {
	const [forms = '', ...messages] = list.split('## nodes/');
	const formLabels = [...forms.matchAll(/^(?:## |- [\w.]+(?: choice)?: )(.*)$/gm)].flatMap(([, label]) => [
		label!, label!.replace(/ (?:Names? or IDs?|\(.*\))$/, ''),
	]);
	const others = [
		'On Error', 'Batch Size', 'Convert to File', 'Extract from File', 'API and integrations', 'CSV', 'HTTPS', 'ID', 'IDs', 'JSON', 'NDJSON',
		'UTF', 'Windows',
	];
	const sends =
		/\b(?:[Cc]hoose|[Ii]ncrease|[Oo]ptions?|[Rr]esource|[Ss]et|[Tt]urn (?:on|off)|[Uu]nder|[Uu]se|[Nn]ode) [‘']?(?=\p{Lu})(?![A-Z\d]+_)/gu;
	const named = messages.flatMap((message) =>
		[...message.matchAll(sends)].map(({ index, 0: words }) => message.slice(index + words.length).split('\n')[0]!),
	);
	const knownLabels = [...formLabels, ...others];

	expect(named.length).toBeGreaterThan(25);
	expect(named.filter((rest) => !knownLabels.some((label) => rest.startsWith(label) && !/^\w/.test(rest.slice(label.length))))).toEqual([]);
});
