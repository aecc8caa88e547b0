'use strict';

/* Runs Import File in a process of its own, so that it can be killed. */
const { readFileSync } = require('node:fs');
const { endWith } = require('./from-sources.cjs');
const { binaryStoreIn } = require('../integration/harness/binary-store.ts');
const { run } = require('../integration/harness/node-runs.ts');

const { url, csv, folder, executionId, options } = JSON.parse(process.argv[2]);

async function main() {
	const store = binaryStoreIn(folder);
	await store.init();
	const { items } = await run({
		credential: { baseUrl: url, apiKey: 'KEY' },
		parameters: { resource: 'file', operation: 'importFile', binaryField: 'data', options },
		files: { data: await store.put(readFileSync(csv)) },
		executionId,
	});
	const [{ json, binary }] = items;
	return JSON.stringify({ json, done: await store.text(binary.done) });
}

endWith(main());
