const endToEnd = require('../browser/jest.config.cjs');

/** One real n8n, whose requests to api.hubapi.com a server of the tests answers. */
module.exports = {
	...endToEnd,
	testMatch: ['<rootDir>/test/n8n/hubspot/**/*.test.ts'],
	maxWorkers: 1,
	globalSetup: '<rootDir>/test/n8n/hubspot/start.mjs',
};
