const { join } = require('node:path');
const project = require('../../../jest.config.js');

/** Each worker has its own n8n and sandbox, since faults that a test sets would affect all other tests. */
module.exports = {
	...project,
	rootDir: join(__dirname, '..', '..', '..'),
	testMatch: ['<rootDir>/test/n8n/browser/**/*.test.ts'],
	// They show what other tests prove.
	testPathIgnorePatterns: process.env.PICTURES ? [] : ['/pictures\\.test\\.ts$'],
	globalSetup: '<rootDir>/test/n8n/harness/start.mjs',
	globalTeardown: '<rootDir>/test/n8n/harness/stop.mjs',
	// One worker leaves much of two cores idle, as the browser and n8n wait for each other.
	maxWorkers: 2,
	// A busy machine takes a minute to show a page of n8n.
	testTimeout: 900_000,
};
