import { BackgroundReader } from '../../../sandbox/core/store/threads/background-reader.ts';

/**
 * Makes a change between the next read in a thread and the response that waits for it.
 *
 * @returns a function that counts reads from now on
 */
export function afterNextRead(change: () => Promise<unknown> | void): () => number {
	const { read } = BackgroundReader.prototype;
	const reads = jest.spyOn(BackgroundReader.prototype, 'read');
	reads.mockImplementationOnce(async function (this: BackgroundReader, queries) {
		const rows = await read.call(this, queries);
		await change();
		return rows;
	});
	return () => reads.mock.calls.length;
}
