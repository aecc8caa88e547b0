const { join } = require('node:path');
const project = require('../../jest.config.js');

/** One real n8n and one sandbox for all tests in this folder. */
module.exports = {
	...project,
	rootDir: join(__dirname, '..', '..'),
	testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
	globalSetup: '<rootDir>/test/e2e/harness/start.mjs',
	globalTeardown: '<rootDir>/test/e2e/harness/stop.mjs',
	maxWorkers: 1,
	// A busy machine takes a minute to show a page of n8n.
	testTimeout: 900_000,
};
