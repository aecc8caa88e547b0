const { availableParallelism } = require('node:os');

module.exports = {
	testMatch: ['<rootDir>/test/**/*.test.ts'],
	// By default jest leaves a core idle. Tests wait for a fifth of their time (for requests, for processes), so there is one
	// worker more than cores.
	maxWorkers: availableParallelism() + 1,
	// Promises are waited for, never raced: this ends a test that hangs, also on a machine with much else to do.
	testTimeout: 300_000,
	testEnvironment: '<rootDir>/test/environment.cjs',
	setupFiles: ['<rootDir>/test/setup.ts'],
	modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/\\.demo', '<rootDir>/\\.tmp'],
	// ES modules, which jest's loader does not take as they are.
	transformIgnorePatterns: ['/node_modules/(?!(get-port|oauth4webapi)/)'],
	transform: {
		'^.+\\.(ts|mjs)$|/(get-port|oauth4webapi)/.+\\.js$': [
			'@swc/jest',
			{
				jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
				module: { type: 'commonjs' },
			},
		],
	},
};
