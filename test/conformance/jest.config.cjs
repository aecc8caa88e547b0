const { join } = require('node:path');
const project = require('../../jest.config.js');

/** The tests of the sandbox's description: Prism reads their requests and responses. */
module.exports = {
	...project,
	rootDir: join(__dirname, '..', '..'),
	testMatch: [
		'<rootDir>/test/conformance/*.test.ts',
		...['batches', 'custom-fields', 'files', 'resources'].map((name) => `<rootDir>/test/integration/${name}.test.ts`),
		...['oauth', 'visibility'].map((name) => `<rootDir>/test/sandbox/${name}.test.ts`),
	],
	globalSetup: '<rootDir>/test/conformance/start.mjs',
	globalTeardown: '<rootDir>/test/conformance/stop.mjs',
};
