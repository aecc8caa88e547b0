import { UnreadableFile } from './fileRow';

/** The encodings of files; `auto` uses the byte-order mark, and UTF-8 without one. */
export type Encoding = 'auto' | 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Byte-order marks (Unicode 16, section 23.8). The mark of UTF-32 begins with the mark of UTF-16. */
const marks: Array<[encoding: Exclude<Encoding, 'auto'> | 'utf-32', bytes: number[]]> = [
	['utf-32', [0xff, 0xfe, 0, 0]],
	['utf-32', [0, 0, 0xfe, 0xff]],
	['utf-8', [0xef, 0xbb, 0xbf]],
	['utf-16le', [0xff, 0xfe]],
	['utf-16be', [0xfe, 0xff]],
];

/** Length of the longest mark, in bytes. */
const maxMarkLength = 4;

/**
 * Decodes a file chunk by chunk. A byte-order mark is removed.
 *
 * @param bytes the file, in chunks of any size
 * @throws Error in the user's words if the bytes are not text in that encoding, or begin with the mark
 * of another one
 */
export async function* decodeText(
	bytes: AsyncIterable<Uint8Array>,
	encoding: Encoding = 'auto',
): AsyncGenerator<string, void> {
	let decoder: Decoder | undefined;
	let used: Exclude<Encoding, 'auto'> = 'utf-8';
	let beginning: Uint8Array = new Uint8Array();

	function* decoded(chunk: Uint8Array, isLast = false): Generator<string, void> {
		const { text: all = '', isBroken } = decoder?.decode(chunk, isLast) ?? {};
		const [text = '', ...others] = all.split('\0', 2);
		if (text !== '') yield text;
		if (others.length > 0) throw withNulls();
		if (isBroken) throw notEncodedAs(used);
	}

	for await (const chunk of bytes) {
		let rest = chunk;
		if (!decoder) {
			beginning = Buffer.concat([beginning, chunk]);
			// A mark may be cut by the end of the first chunk.
			if (beginning.length < maxMarkLength) continue;
			used = encodingOf(beginning, encoding);
			decoder = decoderOf(used);
			rest = beginning;
		}
		yield* decoded(rest);
	}
	if (!decoder) {
		used = encodingOf(beginning, encoding);
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
	// The strict decoder discards the text before the error.
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

const notEncodedAs = (encoding: string): UnreadableFile =>
	new UnreadableFile(
		`The file is not ${encoding.toUpperCase()} text. Choose its encoding in the options: files saved by older programs on Windows are often Windows-1252.`,
	);

/** Text has no NUL characters, but UTF-16 and UTF-32 have them beside each letter. */
const withNulls = (): UnreadableFile =>
	new UnreadableFile(
		'The file has NUL characters, so it is not text in this encoding. If it is UTF-16 without a byte-order mark, choose UTF-16 in the options; otherwise, save it as UTF-8.',
	);

/** @throws Error in the user's words if the mark and the choice contradict each other */
function encodingOf(bytes: Uint8Array, chosen: Encoding): Exclude<Encoding, 'auto'> {
	const [marked] = marks.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte)) ?? [];
	if (marked === 'utf-32') throw new UnreadableFile('The file is UTF-32, which is not supported. Save it as UTF-8.');
	const used = chosen === 'auto' ? (marked ?? 'utf-8') : chosen;
	if (!used.startsWith('utf-16') && bytes.subarray(0, maxMarkLength).includes(0)) throw withNulls();
	if (marked === undefined || marked === used) return used;
	throw new UnreadableFile(
		`The file begins with the byte-order mark of ${marked.toUpperCase()}, but ${used.toUpperCase()} is chosen in the options. Choose “Automatic”, or the right encoding.`,
	);
}
