import type { IBinaryData, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { through, unpacked } from './gzip';

/**
 * Reads the bytes of a file in an input item, unpacked, chunk by chunk if n8n keeps files outside of memory.
 * Opens the file when it is first read, and closes it with the loop that reads it.
 *
 * @throws NodeOperationError if the item has no such file; Error in the user's words if the file is damaged
 */
export const readBinary = (n8n: IExecuteFunctions, item: number, field: string): AsyncGenerator<Uint8Array, void> =>
	unpacked(storedBytes(n8n, item, field));

/**
 * Finds the binary field with the file of an item: the named field or, if the name is the default, the only one.
 *
 * @throws Error in the user's words if there is none or several
 */
export function fileField(n8n: IExecuteFunctions, item: number, { name, displayName, default: usual }: INodeProperties): string {
	const requestedField = String(n8n.getNodeParameter(name, item, usual) ?? '').trim();
	const availableFields = Object.keys(n8n.getInputData()[item]?.binary ?? {});
	if (availableFields.includes(requestedField)) return requestedField;
	const [only, ...others] = availableFields;
	if (only === undefined) {
		throw new Error(
			'The input item has no file, so nothing was written. Connect a node that outputs one, such as Read/Write Files from Disk, HTTP Request or a form.',
		);
	}
	if (others.length === 0 && (requestedField === usual || requestedField === '')) return only;
	throw new Error(
		`${displayName}: the input item has no file “${requestedField}”, so nothing was written. It has ${availableFields.map((field) => `“${field}”`).join(', ')}: enter the one to import.`,
	);
}

/** n8n's store has failed, which says nothing about the file. */
export class BrokenOff extends Error {}

async function* storedBytes(n8n: IExecuteFunctions, item: number, field: string): AsyncGenerator<Uint8Array, void> {
	const { id } = n8n.helpers.assertBinaryData(item, field);
	if (id !== undefined) {
		try {
			yield* (await n8n.helpers.getBinaryStream(id)) as AsyncIterable<Uint8Array>;
			return;
		} catch (error) {
			const problem = `n8n could not read the file to the end (${(error as Error).message}).`;
			// Whatever the store throws: the platform reports damaged data as a TypeError.
			const brokenOff = new BrokenOff(`${problem} The file itself may be fine: retry the execution, which continues from there.`, { cause: error });
			throw brokenOff;
		}
	}
	const bytes = await n8n.helpers.getBinaryDataBuffer(item, field);
	for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
}

/** Size of a chunk, in bytes and in characters. */
const chunkSize = 64 * 1024;

interface FileProperties {
	/** Such as `done.csv`. */
	name: string;
	/** Media type of the content. */
	type: string;
	/** Whether it is compressed with gzip. */
	isCompressed?: boolean;
}

/** A file in n8n's binary store that is stored while it is written, so that memory holds at most one chunk. */
export class OutputFile {
	private pending: string[] = [];
	private length = 0;
	private isEnded = false;
	private wakeReader = () => {};
	private wakeWriter = () => {};
	private readonly stored: Promise<IBinaryData>;

	constructor({ helpers }: IExecuteFunctions, { name, type, isCompressed = false }: FileProperties) {
		this.stored = isCompressed
			? store(helpers, through(new CompressionStream('gzip'), this.chunks()), name.endsWith('.gz') ? name : `${name}.gz`, 'application/gzip')
			: store(helpers, this.chunks(), name, type);
		// A failure is thrown by write and end; until then, Node.js must not report it as unhandled.
		this.stored.catch(() => undefined);
	}

	/** Adds text; waits while the store is behind. @throws Error if n8n cannot store it */
	async write(text: string): Promise<void> {
		this.pending.push(text);
		this.length += text.length;
		if (this.length < chunkSize) return;
		this.wakeReader();
		await Promise.race([this.stored, new Promise<void>((resolve) => (this.wakeWriter = resolve))]);
	}

	/** @throws Error if n8n cannot store it */
	async end(): Promise<IBinaryData> {
		this.isEnded = true;
		this.wakeReader();
		return await this.stored;
	}

	/** The text so far, whenever there is a chunk of it. */
	private async *chunks(): AsyncGenerator<Buffer, void> {
		for (;;) {
			if (this.length >= chunkSize || this.isEnded) {
				const text = this.pending.join('');
				this.pending = [];
				this.length = 0;
				this.wakeWriter();
				if (text !== '') yield Buffer.from(text);
				else if (this.isEnded) return;
			} else {
				await new Promise<void>((resolve) => (this.wakeReader = resolve));
			}
		}
	}
}

/**
 * Stores chunks as they come. Community nodes may not make streams themselves, so one of n8n's own
 * carries them: that of a file of one byte. If n8n keeps files in memory, there are no streams.
 */
async function store(
	helpers: IExecuteFunctions['helpers'],
	chunks: AsyncGenerator<Uint8Array, void>,
	name: string,
	type: string,
): Promise<IBinaryData> {
	const { id } = await helpers.prepareBinaryData(Buffer.from('\n'), name, type);
	if (id === undefined) {
		const all: Uint8Array[] = [];
		for await (const chunk of chunks) all.push(chunk);
		return await helpers.prepareBinaryData(Buffer.concat(all), name, type);
	}
	const carrier = await helpers.getBinaryStream(id);
	const stream = carrier.compose(async function* (carried: AsyncIterable<unknown>) {
		// Reading to the end closes the stream.
		const bytes = carried[Symbol.asyncIterator]();
		while (!(await bytes.next()).done);
		yield* chunks;
	});
	return await helpers.prepareBinaryData(stream as typeof carrier, name, type);
}

/** The properties that the parts of an output share. */
interface PartsProperties extends FileProperties {
	/** The header of each file; empty if it has none. */
	header: string;
	/** Maximum number of rows per file; Infinity for a single file. */
	rowsPerFile: number;
}

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
