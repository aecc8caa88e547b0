import * as fc from 'fast-check';
import type { Json } from '../../sandbox/harness/in-process.ts';
import type { FuzzRuns, FuzzedOperation } from './requests.ts';
import type { FuzzedSandbox } from './fuzzed-sandbox.ts';
import { oddNumber, oddText } from './values.ts';

/** Bytes of the signature that a cursor begins with. */
const signatureLength = 16;

/**
 * Sends cursors of the service with other values under the same signature.
 *
 * @throws Error if one is accepted, or not answered as promised
 */
export async function fuzzCursors(target: FuzzedSandbox, list: FuzzedOperation, { runs, seed }: FuzzRuns) {
	const { schema } = list.parameters.find(({ name }) => name === 'sort');
	const forgeries = fc.tuple(
		fc.constantFrom<string>(...(schema.items ?? schema).enum),
		fc.array(fc.oneof(oddText, oddNumber), { maxLength: 2 }),
	);
	const path = list.path.replace('{key}', 'machines');
	const property = fc.asyncProperty(forgeries, async ([sort, values]) => {
		const ask = (query: Array<[string, string]>) =>
			target.send({
				method: 'GET',
				path,
				query: [['sort', sort], ['limit', '1'], ...query],
				headers: { Authorization: 'Bearer «key»' },
				body: undefined,
			});
		const { answer } = await ask([]);
		const { next_cursor: cursor } = JSON.parse(answer.text);
		// A list of one record has no cursor.
		if (cursor === null) return;
		const bytes = Buffer.from(cursor, 'base64url');
		const content: Json = JSON.parse(bytes.subarray(signatureLength).toString());
		const after = content.after.map((value: Json, i: number) => values[i] ?? value);
		const text = Buffer.from(JSON.stringify({ ...content, after }));
		const forged = Buffer.concat([bytes.subarray(0, signatureLength), text]).toString('base64url');
		const { answer: answered, broken } = await ask([['cursor', forged]]);
		if (broken.length > 0) throw new Error(broken.join('; '));
		if (forged !== cursor && answered.status !== 400) throw new Error(`A forged cursor got ${answered.status}`);
	});
	await fc.assert(property, { numRuns: runs, seed });
}
