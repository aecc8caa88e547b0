const endToEnd = require('../e2e/jest.config.cjs');

/** One n8n in queue mode (several processes) and one sandbox for all tests in this folder. */
module.exports = {
	...endToEnd,
	testMatch: ['<rootDir>/test/queue/**/*.test.ts'],
	maxWorkers: 1,
	globalSetup: '<rootDir>/test/queue/harness/start.mjs',
};
