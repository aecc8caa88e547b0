/** Encodings a file can be read in; `auto` is what its byte-order mark says, else UTF-8. */
export type Encoding = 'auto' | 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

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
	let decoder: Decoder | undefined;
	let used: Exclude<Encoding, 'auto'> = 'utf-8';
	let beginning: Uint8Array = new Uint8Array();

	function* decoded(chunk: Uint8Array, isLast = false): Generator<string, void> {
		const { text = '', isBroken } = decoder?.decode(chunk, isLast) ?? {};
		if (text !== '') yield text;
		if (isBroken) throw notEncodedAs(used);
	}

	for await (const chunk of bytes) {
		let rest = chunk;
		if (!decoder) {
			beginning = joined(beginning, chunk);
			// A mark may be cut by the end of the first chunk.
			if (beginning.length < 3) continue;
			used = encoding === 'auto' ? markedEncoding(beginning) : encoding;
			decoder = decoderOf(used);
			rest = beginning;
		}
		yield* decoded(rest);
	}
	if (!decoder) {
		used = encoding === 'auto' ? markedEncoding(beginning) : encoding;
		decoder = decoderOf(used);
		yield* decoded(beginning);
	}
	yield* decoded(new Uint8Array(), true);
}

interface Decoder {
	/** The text of a chunk, up to the first byte that cannot be decoded. */
	decode(chunk: Uint8Array, isLast: boolean): { text: string; isBroken: boolean };
}

function decoderOf(encoding: Exclude<Encoding, 'auto'>): Decoder {
	const strict = new TextDecoder(encoding, { fatal: true });
	// The strict one does not give what stands before the error.
	const lenient = new TextDecoder(encoding);
	return {
		decode(chunk, isLast) {
			const options = { stream: !isLast };
			const replaced = lenient.decode(chunk, options);
			try {
				return { text: strict.decode(chunk, options), isBroken: false };
			} catch {
				const [text = ''] = replaced.split('\uFFFD', 1);
				return { text, isBroken: true };
			}
		},
	};
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
