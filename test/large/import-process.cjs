'use strict';

/*
 * Runs Import File in a process of its own, so that it can be killed, from the sources: n8n-core's
 * classes are CommonJS, which Node.js does not make of TypeScript by itself.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { transformSync } = require('@swc/core');

const { url, csv, folder, executionId, options } = JSON.parse(process.argv[2]);

Module._extensions['.ts'] = (module, filename) => {
	const { code } = transformSync(readFileSync(filename, 'utf8'), {
		filename,
		jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
		module: { type: 'commonjs' },
	});
	module._compile(code, filename);
};
// Extensions are tried in this order, and beside CrmPlatform.node.ts there is a .json.
const { '.json': json } = Module._extensions;
delete Module._extensions['.json'];
Module._extensions['.json'] = json;
require('../setup.ts');
const { binaryStoreIn } = require('../integration/binary-store.ts');
const { run } = require('../integration/n8n.ts');

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

main().then(
	(result) => process.stdout.write(result, () => process.exit()),
	(error) => {
		console.error(error);
		process.exit(1);
	},
);
