const { TestEnvironment } = require('jest-environment-node');

/**
 * Gives tests the sandbox as Node.js loads it, once for all test files of a process: what jest loads,
 * it loads anew for each file. Only for tests that call the sandbox over HTTP, as its classes are not
 * those that a test imports.
 */
module.exports = class extends TestEnvironment {
	constructor(...given) {
		super(...given);
		this.global.loadSandbox = () => {
			require('./sandbox/quick-passwords.ts');
			return require('../sandbox/serve.ts');
		};
	}
};
