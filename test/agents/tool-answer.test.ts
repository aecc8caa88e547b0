import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { answerOf } from '../../nodes/CrmPlatform/nodeAsTool/toolAnswer';

/** The answer with which a model learns of these records and notices. */
async function answerTo(records: IDataObject[], maxAnswerLength: unknown, notices: string[] = [], isSwallowed = false): Promise<string> {
	const items = records.map((json) => ({ json }));
	return textOf(await answerOf(contextOf(maxAnswerLength, isSwallowed), async () => ({ items, notices })));
}

const contextOf = (maxAnswerLength: unknown, isSwallowed: boolean) =>
	({
		getNode: () => ({ type: 'crmPlatformTool' }),
		isToolExecution: () => isSwallowed,
		getNodeParameter: () => maxAnswerLength,
	}) as unknown as IExecuteFunctions;

const textOf = ([answer = []]: INodeExecutionData[][]): string => JSON.stringify(answer.map(({ json }) => json));

const recordOf = (length: number, more: IDataObject = {}) => ({ id: 'con_1', ...more, text: 'x'.repeat(length) });

test('a maximum length that is not a whole number is refused before anything is read; one shorter than the minimum is raised', async () => {
	await expect(answerTo([recordOf(10)], 'a page')).rejects.toThrow('Maximum Answer Length: enter a whole number');
	// AI Agent 2 does not pass thrown errors to the model.
	expect(await answerTo([recordOf(10)], 'a page', [], true)).toContain('Maximum Answer Length: enter a whole number');
	expect(await answerTo([recordOf(100)], 20)).toBe(await answerTo([recordOf(100)], 500));
	expect(await answerTo([recordOf(1_000)], '')).toBe(await answerTo([recordOf(1_000)], 500));
});

test.each([500, 1_000, 4_000])('no answer is longer than %i characters, however many and long the records are', async (maxLength) => {
	const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field_${i}`, 'y'.repeat(i)]));
	const page = { records: Array.from({ length: 100 }, () => recordOf(50)), next_cursor: 'c' };
	for (const records of [[recordOf(50_000)], [many], [page], Array(300).fill(recordOf(90)), [recordOf(9_000), recordOf(1)]]) {
		const answer = await answerTo(records as IDataObject[], maxLength, ['A notice.', 'n'.repeat(2_000)]);
		expect(answer.length).toBeLessThanOrEqual(maxLength);
		expect(answer).toMatch(/left out|shortened/);
	}
});

test('nor is an answer whose shortened record just fits, or an error', async () => {
	for (let length = 1; length < 300; length++) {
		const record = recordOf(5_000, { name: 'n'.repeat(length), more: 'm'.repeat(250) });
		expect((await answerTo([record], 1_000)).length).toBeLessThanOrEqual(1_000);
	}
	const failing = answerOf(contextOf(500, true), async () => await Promise.reject(new Error('"'.repeat(1_000))));
	const answer = textOf(await failing);
	expect(answer).toMatch(/^\[\{"error":"/);
	expect(answer.length).toBeLessThanOrEqual(500);
});

test('an answer of exactly the maximum length is complete', async () => {
	const records = [recordOf(500), recordOf(500)];
	expect(await answerTo(records, JSON.stringify(records).length)).toBe(JSON.stringify(records));
});

test('a record that is too long by itself keeps its ID and tells what was left out of a text', async () => {
	const [first, { note = '' } = {}] = JSON.parse(await answerTo([recordOf(50_000)], 2_000)) as IDataObject[];
	expect(first).toMatchObject({ id: 'con_1', text: expect.stringMatching(/^x+… \(\d+ more characters\)$/) as string });
	expect(note).toMatch(/shortened/);
});

test('the hints for users are also returned to the model', async () => {
	expect(await answerTo([{ id: 'con_1' }], 4_000, ['The CRM did not take the field size.'])).toContain(
		'The CRM did not take the field size.',
	);
	expect(await answerTo([], 4_000)).toMatch(/Nothing was found/);
});
