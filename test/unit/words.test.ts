import { resolve } from 'node:path';
import { readWordList } from '../../tools/word-list.ts';

const list = readWordList((file) => jest.requireActual(resolve(file)));

test('the list of texts that users read has names, descriptions, choices and messages', () => {
	expect(list).toContain('- operation choice: Create or Update\n');
	expect(list).toContain('- options.maxWait: Longest Wait (Seconds)\n');
	expect(list).toContain('- Correct the values and try again.\n');
});

test('no label is longer than n8n shows in a narrow form', () => {
	const [forms = ''] = list.split('## nodes/');
	const labels = [...forms.matchAll(/^- ([\w.]+): (.*)$/gm)].filter(([, name]) => !/^node$|Notice$/.test(name!));
	expect(labels.length).toBeGreaterThan(50);
	const longest = 'Changed Field Names or IDs'.length;
	expect(labels.map(([, , label]) => label!).filter((label) => label.length > longest)).toEqual([]);
});
