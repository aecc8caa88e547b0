import { resultOrError } from '../base/results';
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
export async function* decodeText(bytes: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncGenerator<string, void> {
	let decoder: Decoder | undefined;
	for await (const chunk of withWholeMark(bytes)) {
		decoder ??= new TextDecoder(encodingOf(chunk, encoding), { fatal: true });
		yield textOf(decoder, chunk);
	}
	yield textOf(decoder!);
}

type Decoder = InstanceType<typeof TextDecoder>;

/** The text of a chunk; without one, of what the last one left. */
function textOf(decoder: Decoder, chunk?: Uint8Array): string {
	const text = resultOrError(() => decoder.decode(chunk, { stream: chunk !== undefined }));
	// Text has no NUL characters, but UTF-16 and UTF-32 have them beside each letter.
	if (typeof text === 'string' && !text.includes('\0')) return text;
	throw new Error(
		`The file is not ${decoder.encoding.toUpperCase()} text, or has NUL characters. Choose its encoding in the options: files saved by older programs on Windows are often Windows-1252, and those with NUL characters UTF-16. Otherwise, save it as UTF-8.`,
	);
}

/** @throws Error in the user's words if the mark and the choice contradict each other */
function encodingOf(bytes: Uint8Array, chosen: Encoding): Exclude<Encoding, 'auto'> {
	const [marked] = marks.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte)) ?? [];
	const used = chosen === 'auto' ? (marked ?? 'utf-8') : chosen;
	if (marked === undefined || marked === used) return used;
	throw new Error(
		`The file begins with the byte-order mark of ${marked.toUpperCase()}, but ${used.toUpperCase()} is chosen in the options. Choose “Automatic”, or the right encoding.`,
	);
}
