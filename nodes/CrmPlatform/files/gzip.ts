/** The beginning of a gzip file (RFC 1952, section 2.3.1), of which deflate is the only method. */
const gzipMark = [0x1f, 0x8b, 0x08];
/** The beginning of a ZIP file, and so of an Excel workbook. */
const zipMark = [0x50, 0x4b, 0x03, 0x04];
/** The beginning of a workbook of Excel 97 to 2003 ([MS-CFB], section 2.2). */
const oldWorkbookMark = [0xd0, 0xcf, 0x11, 0xe0];

/**
 * Unpacks the bytes of a file if they are compressed with gzip.
 *
 * @throws Error in the user's words if the file is damaged, a ZIP file or a workbook
 */
export async function* unpacked(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
	const chunks = withWholeMark(bytes);
	try {
		const { value: beginning = new Uint8Array() } = await chunks.next();
		const begins = (mark: number[]) => mark.every((byte, i) => beginning[i] === byte);
		if (begins(zipMark) || begins(oldWorkbookMark)) {
			throw new Error('The file is a ZIP archive or an Excel workbook. Unpack it with the Compression node, or save the workbook as CSV.');
		}
		const all = withBeginning(beginning, chunks);
		yield* begins(gzipMark) ? through(new DecompressionStream('gzip'), all) : all;
	} catch (error) {
		// The platform's error for damaged data (Compression Standard, section 5). Reading the file throws no TypeError.
		const message = 'The gzip file is damaged, incomplete or made of several parts. Create it again, or unpack it first.';
		throw (error as Error).name === 'TypeError' ? new Error(message, { cause: error }) : error;
	} finally {
		await chunks.return();
	}
}

async function* withBeginning(beginning: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
	yield beginning;
	yield* rest;
}

/** The same chunks, of which the first is long enough for any mark at the beginning of a file. */
export async function* withWholeMark(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
	let beginning: Uint8Array | undefined = new Uint8Array();
	for await (const chunk of chunks) {
		if (beginning) beginning = Buffer.concat([beginning, chunk]);
		if (beginning && beginning.length < zipMark.length) continue;
		yield beginning ?? chunk;
		beginning = undefined;
	}
	if (beginning) yield beginning;
}

/** Sends chunks through one of the platform's streams: community nodes may not import node:zlib. */
export async function* through(
	{ readable, writable }: CompressionStream | DecompressionStream,
	chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
	const writer = writable.getWriter();
	const reader = readable.getReader();
	const feed = async () => {
		try {
			for await (const chunk of chunks) await writer.write(chunk);
			await writer.close();
		} catch (error) {
			// The reader of the stream receives the error.
			await writer.abort(error);
		}
	};
	const feeding = feed().catch(() => undefined);
	try {
		for (;;) {
			const { value, done } = (await reader.read()) as { value?: Uint8Array; done: boolean };
			if (done || !value) return;
			yield value;
		}
	} finally {
		await reader.cancel().catch(() => undefined);
		await feeding;
	}
}
