import { UnreadableFile } from './fileRow';
import { withWholeMark } from './gzip';

/** The encodings of files; `auto` uses the byte-order mark, and UTF-8 without one. */
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
 * @throws Error in the user's words if the bytes are not text in that encoding, or begin with the mark
 * of another one
 */
export async function* decodeText(bytes: AsyncIterable<Uint8Array>, encoding: Encoding = 'auto'): AsyncGenerator<string, void> {
	let decoder: Decoder | undefined;
	for await (const chunk of withWholeMark(bytes)) {
		decoder ??= decoderOf(encodingOf(chunk, encoding));
		yield* decoder(chunk, false);
	}
	yield* decoder!(new Uint8Array(), true);
}

/** Yields the text of a chunk, up to the first byte that cannot be decoded. */
type Decoder = (chunk: Uint8Array, isLast: boolean) => Generator<string, void>;

function decoderOf(encoding: Exclude<Encoding, 'auto'>): Decoder {
	const strict = new TextDecoder(encoding, { fatal: true });
	// The strict decoder discards the text before the error.
	const lenient = new TextDecoder(encoding);
	return function* (chunk, isLast) {
		const options = { stream: !isLast };
		const replaced = lenient.decode(chunk, options);
		let decoded: string | undefined;
		try {
			decoded = strict.decode(chunk, options);
		} catch {
			decoded = undefined;
		}
		const [text = '', ...others] = (decoded ?? replaced.split('\uFFFD', 1)[0]!).split('\0', 2);
		if (text !== '') yield text;
		if (others.length > 0) throw withNulls();
		if (decoded === undefined) throw notEncodedAs(encoding);
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
	const used = chosen === 'auto' ? (marked ?? 'utf-8') : chosen;
	if (marked === undefined || marked === used) return used;
	throw new UnreadableFile(
		`The file begins with the byte-order mark of ${marked.toUpperCase()}, but ${used.toUpperCase()} is chosen in the options. Choose “Automatic”, or the right encoding.`,
	);
}
