const { existsSync } = require('node:fs');
const { join } = require('node:path');
const project = require('../../../jest.config.js');

/** The folder whose node_modules hold the n8n-core to test with; the project's own without it. */
const installation = process.env.N8N_CORE_INSTALLATION;

/** What n8n gives to a community package comes from the same n8n. */
const offered = ['n8n-core', 'n8n-workflow', '@n8n/di', 'zod', 'luxon', 'lodash']
	.map((name) => ({ name, folder: join(installation ?? '.', 'node_modules', name) }))
	.filter(({ folder }) => existsSync(folder))
	.map(({ name, folder }) => [`^${name}$`, folder]);

/** The integration tests in another version of n8n-core. */
module.exports = {
	...project,
	rootDir: join(__dirname, '..', '..', '..'),
	testMatch: ['<rootDir>/test/**/*.test.ts'],
	moduleNameMapper: installation ? Object.fromEntries(offered) : {},
	// Some versions of n8n-core start timers that keep a process alive.
	forceExit: true,
};
