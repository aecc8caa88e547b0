'use strict';

/*
 * Runs a script, its first argument, in a process of its own, which can be killed, with the nodes from their
 * sources: n8n-core's classes are CommonJS, which Node.js does not make of TypeScript by itself.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { transformSync } = require('@swc/core');

/**
 * Node.js's loaders by extension, which its types leave out.
 * @type {Record<string, (module: NodeJS.Module & { _compile(code: string, filename: string): void }, filename: string) => void>}
 */
const loaders = Reflect.get(Module, '_extensions');

loaders['.ts'] = (module, filename) => {
	const { code } = transformSync(readFileSync(filename, 'utf8'), {
		filename,
		jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
		module: { type: 'commonjs' },
	});
	module._compile(code, filename);
};
// Extensions are tried in this order, and beside CrmPlatform.node.ts there is a .json.
const json = /** @type {typeof loaders[string]} */ (loaders['.json']);
delete loaders['.json'];
loaders['.json'] = json;
require('../../setup.ts');
require(/** @type {string} */ (process.argv[2]));
