const { join } = require('node:path');
const project = require('../../jest.config.js');

/** The tests of the sandbox's description: Prism reads their requests and responses. */
module.exports = {
	...project,
	rootDir: join(__dirname, '..', '..'),
	testMatch: [
		'<rootDir>/test/contract/*.test.ts',
		...['writes/batches', 'writes/actions', 'description/custom-fields', 'files/files'].map((name) => `<rootDir>/test/${name}.test.ts`),
		'<rootDir>/test/sandbox/access/oauth.test.ts',
	],
	globalSetup: '<rootDir>/test/contract/start.mjs',
	globalTeardown: '<rootDir>/test/contract/stop.mjs',
};
