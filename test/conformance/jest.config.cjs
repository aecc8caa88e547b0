const { join } = require('node:path');
const project = require('../../jest.config.js');

/** The tests that talk to the sandbox by HTTP, with Prism in between. */
module.exports = {
	...project,
	rootDir: join(__dirname, '..', '..'),
	testMatch: [
		'<rootDir>/test/conformance/*.test.ts',
		'<rootDir>/test/integration/*.test.ts',
		...['oauth', 'oauth-refusals', 'settings', 'visibility', 'visibility-of-bulk'].map(
			(name) => `<rootDir>/test/sandbox/${name}.test.ts`,
		),
	],
	globalSetup: '<rootDir>/test/conformance/start.mjs',
	globalTeardown: '<rootDir>/test/conformance/stop.mjs',
};
