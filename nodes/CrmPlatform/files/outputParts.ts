import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { outputFile, type FileProperties, type OutputFile } from './binary';

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
	const parts: OutputPart[] = [];
	let current: { file: OutputFile; rows: number } | undefined;
	const begin = async () => {
		const name = rowsPerFile === Infinity ? properties.name : numbered(properties.name, parts.length + 1);
		current = { file: outputFile(n8n, { ...properties, name }), rows: 0 };
		if (header !== '') await current.file.write(header);
		return current;
	};
	const end = async () => {
		const part = current ?? (await begin());
		current = undefined;
		parts.push({ rows: part.rows, file: await part.file.end() });
	};
	try {
		for await (const read of rows) {
			for (let from = 0; from < read.length; ) {
				if (current?.rows === rowsPerFile) await end();
				const part = current ?? (await begin());
				const some = read.slice(from, from + Math.min(rowsAtOnce, rowsPerFile - part.rows));
				from += some.length;
				part.rows += some.length;
				await part.file.write(some.join(''));
			}
		}
		if (current || parts.length === 0) await end();
		return parts;
	} finally {
		// If the rows break off, the store waits for the end of the file.
		await current?.file.end().catch(() => undefined);
	}
}

/** `contacts-2.csv` for the second part of `contacts.csv`. */
function numbered(name: string, part: number): string {
	const [, stem = name, ending = ''] = /^(.+?)((?:\.\w+)?(?:\.gz)?)$/.exec(name) ?? [];
	return `${stem}-${part}${ending}`;
}
