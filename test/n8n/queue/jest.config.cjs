const endToEnd = require('../browser/jest.config.cjs');

/** One n8n in queue mode (several processes) and one sandbox for all tests in this folder. */
module.exports = {
	...endToEnd,
	testMatch: ['<rootDir>/test/n8n/queue/**/*.test.ts'],
	maxWorkers: 1,
	globalSetup: '<rootDir>/test/n8n/queue/harness/start.mjs',
};
