import { crc32 } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');

interface Chunk {
	type: string;
	data: Buffer;
}

const chunksOf = (png: Buffer): Chunk[] => {
	const chunks: Chunk[] = [];
	for (let at = signature.length; at < png.length; ) {
		const length = png.readUInt32BE(at);
		chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
		at += length + 12;
	}
	return chunks;
};

const numbers = (...values: number[]): Buffer => {
	const bytes = Buffer.alloc(values.length * 4);
	values.forEach((value, i) => bytes.writeUInt32BE(value, i * 4));
	return bytes;
};

function written({ type, data }: Chunk): Buffer {
	const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	return Buffer.concat([numbers(data.length), body, numbers(crc32(body))]);
}

/**
 * One PNG that shows screenshots after one another, again and again (PNG specification, third edition, 4.9).
 *
 * @param frames PNG files of one size and color type
 * @param seconds for which each of them is shown
 */
export function animation(frames: Buffer[], seconds: number): Buffer {
	const [header] = chunksOf(frames[0]!);
	const [width, height] = [header!.data.readUInt32BE(0), header!.data.readUInt32BE(4)];
	let sequence = 0;
	const shown = frames.flatMap((frame, i) => {
		// As a fraction of 16-bit numbers; a frame replaces the one before it.
		const delay = Buffer.from([0, seconds, 0, 1, 0, 0]);
		const control = { type: 'fcTL', data: Buffer.concat([numbers(sequence++, width, height, 0, 0), delay]) };
		const parts = chunksOf(frame).filter(({ type }) => type === 'IDAT');
		return [control, ...parts.map((part) => (i === 0 ? part : { type: 'fdAT', data: Buffer.concat([numbers(sequence++), part.data]) }))];
	});
	const chunks = [header!, { type: 'acTL', data: numbers(frames.length, 0) }, ...shown, { type: 'IEND', data: Buffer.alloc(0) }];
	return Buffer.concat([signature, ...chunks.map(written)]);
}
