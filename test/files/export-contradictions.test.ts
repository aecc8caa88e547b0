import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';

import { alteredService } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 1_500 });
const service = alteredService(sandbox);
const { exportOf } = fileRuns(service, useBinaryStore());

/** Other lines in the results of an export. */
const edited = (edit: (lines: string[], offset: number) => string[]) =>
	service.alter({
		answer(text, { url }) {
			if (!url.pathname.endsWith('/results')) return text;
			const lines = edit(text.trim().split('\n').filter(Boolean), Number(url.searchParams.get('offset')));
			return lines.map((line) => `${line}\n`).join('');
		},
	});

test('an export that breaks off before its first record leaves no file in n8n’s store', async () => {
	edited(() => []);
	const storing = jest.spyOn(Container.get(BinaryDataService), 'store');
	await expect(exportOf()).rejects.toThrow(/has only 0 of its \d+ records/);
	expect(storing).not.toHaveBeenCalled();
});

describe('an export fails', () => {
	test.each([0, 1])('if a part begins with the last record of the previous part, %s fewer at its end', async (fewer) => {
		let last = '';
		edited((lines, offset) => {
			const out = offset > 0 ? [last, ...lines.slice(0, lines.length - fewer)] : lines;
			last = lines.at(-1) ?? '';
			return out;
		});
		await expect(exportOf({ options: { outputFields: ['id'] } })).rejects.toThrow(/contains the record con_\w+ twice/);
	});

	test.each<[object, RegExp]>([
		[{ error: { code: 'internal', message: 'Row is away' } }, /an error instead of a record: .*Row is away/],
		[{ status: 'error', message: 'Row is away' }, /an error instead of a record: .*Row is away/],
		[{}, /a record without an ID/],
		[{ id: null, last_name: 'A' }, /a record without an ID/],
	])('if %j stands in place of a record', async (line, words) => {
		edited((lines) => lines.map((originalLine, i) => (i === 2 ? JSON.stringify(line) : originalLine)));
		await expect(exportOf({ options: { outputFields: ['id'] } })).rejects.toThrow(words);
	});
});
