import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { OutputFile, type FileProperties } from './binary';

/** The properties that the parts of an output share. */
export interface PartsProperties extends FileProperties {
	/** The header of each file; empty if it has none. */
	header: string;
	/** Maximum number of rows per file; Infinity for a single file. */
	rowsPerFile: number;
}

/** A stored file and its number of rows. */
interface OutputPart {
	rows: number;
	file: IBinaryData;
}

/** Rows written at once: a promise for each of them takes longer than its cells. */
const rowsAtOnce = 100;

/**
 * Writes rows into as many files of n8n's binary store as they need; without rows, there is one file.
 *
 * @throws Error if n8n cannot store them, or what reading the rows throws
 */
export async function writeParts(
	n8n: IExecuteFunctions,
	{ header, rowsPerFile, ...properties }: PartsProperties,
	rows: AsyncIterable<string[]>,
): Promise<OutputPart[]> {
	const begin = async (part: number): Promise<OutputFile> => {
		const begun = new OutputFile(n8n, { ...properties, name: rowsPerFile === Infinity ? properties.name : numbered(properties.name, part) });
		if (header !== '') await begun.write(header);
		return begun;
	};
	const parts: OutputPart[] = [];
	let file: OutputFile | undefined;
	let count = 0;
	try {
		for await (const read of rows) {
			for (let from = 0; from < read.length; ) {
				if (file && count === rowsPerFile) {
					parts.push({ rows: count, file: await file.end() });
					file = undefined;
					count = 0;
				}
				// Rows that break off before the first one leave no file in the store.
				file ??= await begin(parts.length + 1);
				const some = read.slice(from, from + Math.min(rowsAtOnce, rowsPerFile - count));
				from += some.length;
				count += some.length;
				await file.write(some.join(''));
			}
		}
		file ??= await begin(1);
		return [...parts, { rows: count, file: await file.end() }];
	} finally {
		// If the rows break off, the store waits for the end of the file.
		await file?.end().catch(() => undefined);
	}
}

/** `contacts-2.csv` for the second part of `contacts.csv`. */
function numbered(name: string, part: number): string {
	const [, stem = name, ending = ''] = /^(.+?)((?:\.\w+)?(?:\.gz)?)$/.exec(name) ?? [];
	return `${stem}-${part}${ending}`;
}
