/** Encodings a file can be read in; `auto` is what its byte-order mark says, else UTF-8. */
export const encodings = ['auto', 'utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;

export type Encoding = (typeof encodings)[number];

/** Byte-order marks (Unicode 16, section 23.8). */
const marks: Array<[encoding: Exclude<Encoding, 'auto'>, bytes: number[]]> = [
	['utf-8', [0xef, 0xbb, 0xbf]],
	['utf-16le', [0xff, 0xfe]],
	['utf-16be', [0xfe, 0xff]],
];

/**
 * Decodes a file chunk by chunk. A byte-order mark is removed.
 *
 * @param bytes the file, in chunks of any size
 * @param encoding a byte-order mark takes precedence over `auto` only
 * @throws Error in the user's words where the bytes are not text in that encoding
 */
export async function* decodeText(
	bytes: AsyncIterable<Uint8Array>,
	encoding: Encoding = 'auto',
): AsyncGenerator<string, void> {
	let decoder: InstanceType<typeof TextDecoder> | undefined;
	let used: Exclude<Encoding, 'auto'> = 'utf-8';
	let beginning: Uint8Array = new Uint8Array();

	const decode = (chunk: Uint8Array, isLast: boolean): string => {
		try {
			return decoder?.decode(chunk, { stream: !isLast }) ?? '';
		} catch {
			throw notEncodedAs(used);
		}
	};

	for await (const chunk of bytes) {
		let rest = chunk;
		if (!decoder) {
			beginning = joined(beginning, chunk);
			// A mark may be cut by the end of the first chunk.
			if (beginning.length < 3) continue;
			used = encoding === 'auto' ? markedEncoding(beginning) : encoding;
			decoder = new TextDecoder(used, { fatal: true });
			rest = beginning;
		}
		const text = decode(rest, false);
		if (text !== '') yield text;
	}
	if (!decoder) {
		used = encoding === 'auto' ? markedEncoding(beginning) : encoding;
		decoder = new TextDecoder(used, { fatal: true });
		const text = decode(beginning, false);
		if (text !== '') yield text;
	}
	const last = decode(new Uint8Array(), true);
	if (last !== '') yield last;
}

const notEncodedAs = (encoding: string): Error =>
	new Error(
		`The file is not ${encoding.toUpperCase()} text. Choose its encoding in the options: files saved by older programs on Windows are often Windows-1252.`,
	);

function markedEncoding(bytes: Uint8Array): Exclude<Encoding, 'auto'> {
	const marked = marks.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte));
	return marked?.[0] ?? 'utf-8';
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
	const both = new Uint8Array(first.length + second.length);
	both.set(first);
	both.set(second, first.length);
	return both;
}
