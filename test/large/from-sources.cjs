'use strict';

/*
 * Lets a process of its own, which can be killed, run the nodes from their sources: n8n-core's classes are
 * CommonJS, which Node.js does not make of TypeScript by itself.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { transformSync } = require('@swc/core');

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

/** Prints what the work gives, and ends the process. */
exports.endWith = (work) =>
	work.then(
		(result) => process.stdout.write(result, () => process.exit()),
		(error) => {
			console.error(error);
			process.exit(1);
		},
	);
