import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { outputFile, type FileProperties, type OutputFile } from './binary';

/** The properties that the parts of an output share. */
export interface PartsProperties extends FileProperties {
	/** The beginning of each file. */
	beginning: string;
	/** Maximum number of rows per file; Infinity for a single file. */
	rowsPerFile: number;
}

/** A stored file and its number of rows. */
interface OutputPart {
	rows: number;
	file: IBinaryData;
}

/** Rows that are written into as many files as they need, one after another. */
interface OutputParts {
	/** @throws Error if n8n cannot store the rows */
	add(rows: string[]): Promise<void>;
	/** Ends the last file; without rows, there is one file. @throws Error if n8n cannot store it */
	end(): Promise<OutputPart[]>;
}

/** Rows written at once: a promise for each of them takes longer than its cells. */
const rowsAtOnce = 100;

/** Begins files in n8n's binary store. */
export function outputParts(n8n: IExecuteFunctions, { beginning, rowsPerFile, ...properties }: PartsProperties): OutputParts {
	const parts: OutputPart[] = [];
	let current: OutputFile | undefined;
	let rows = 0;

	const begin = async (): Promise<OutputFile> => {
		const name = rowsPerFile === Infinity ? properties.name : numbered(properties.name, parts.length + 1);
		current = outputFile(n8n, { ...properties, name });
		if (beginning !== '') await current.write(beginning);
		return current;
	};
	const endCurrent = async (): Promise<void> => {
		const file = current ?? (await begin());
		current = undefined;
		parts.push({ rows, file: await file.end() });
		rows = 0;
	};

	return {
		async add(added) {
			for (let from = 0; from < added.length; ) {
				if (current && rows === rowsPerFile) await endCurrent();
				const file = current ?? (await begin());
				const some = added.slice(from, from + Math.min(rowsAtOnce, rowsPerFile - rows));
				from += some.length;
				rows += some.length;
				await file.write(some.join(''));
			}
		},
		async end() {
			if (current || parts.length === 0) await endCurrent();
			return parts;
		},
	};
}

/** `contacts-2.csv` for the second part of `contacts.csv`. */
function numbered(name: string, part: number): string {
	const [, stem = name, ending = ''] = /^(.+?)((?:\.\w+)?(?:\.gz)?)$/.exec(name) ?? [];
	return `${stem}-${part}${ending}`;
}
