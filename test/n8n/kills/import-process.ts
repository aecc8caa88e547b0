import { readFileSync } from 'node:fs';
import { binaryStoreIn } from '../../support/binary-store.ts';
import { run } from '../../support/node-runs.ts';
import type { ImportInput } from './killable-node.ts';

/** Runs Import File, and prints its item and the file of finished rows. */
async function main(): Promise<string> {
	const { credential, csv, folder, executionId, options } = JSON.parse(process.argv[3]!) as ImportInput;
	const store = binaryStoreIn(folder);
	await store.init();
	const { items } = await run({
		credential,
		parameters: { resource: 'file', operation: 'importFile', binaryField: 'data', preview: false, options },
		files: { data: await store.put(readFileSync(csv)) },
		executionId,
	});
	return JSON.stringify({ json: items[0]?.json, done: await store.text(items[0]?.binary?.['done']) });
}

// n8n-core leaves timers in the process.
main().then(
	(result) => process.stdout.write(result, () => process.exit()),
	(error: unknown) => {
		console.error(error);
		process.exit(1);
	},
);
