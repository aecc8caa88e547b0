const endToEnd = require('../../e2e/jest.config.cjs');

/** One real n8n, whose requests to api.hubapi.com a server of the tests answers. */
module.exports = {
	...endToEnd,
	testMatch: ['<rootDir>/test/night/hubspot/**/*.test.ts'],
	maxWorkers: 1,
	globalSetup: '<rootDir>/test/night/hubspot/start.mjs',
};
