const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

const { createContext } = vm;

// Jest reports a worker that has not exited after half a second as hanging. On a busy machine, freeing hundreds of
// megabytes before the exit takes longer, and is of no use.
if (process.send) {
	process.once('exit', (code) => {
		for (const listener of process.listeners('exit')) listener.call(process, code);
		Reflect.get(process, 'reallyExit').call(process, code);
	});
}

/**
 * Gives tests the sandbox as Node.js loads it, once for all test files of a process: jest would load it
 * again for each file. Only for tests that call the sandbox over HTTP, as its classes are not those that a
 * test imports.
 */
module.exports = class extends TestEnvironment {
	/** @param {ConstructorParameters<typeof TestEnvironment>} settings */
	constructor(...settings) {
		// Jest's own context looks up each global (`Map`, `String`, `undefined`) in a proxy: tests would take up to twice as long.
		Object.assign(vm, { createContext: () => createContext(vm.constants.DONT_CONTEXTIFY) });
		super(...settings);
		Object.assign(vm, { createContext });
		const { setTimeout, setInterval } = this.global;
		/** @type {NodeJS.Timeout[]} */
		this.intervals = [];
		// n8n-core looks after SSH connections for ever, which would keep the modules of every test file in memory.
		/** @type {(...timer: Parameters<typeof setInterval>) => NodeJS.Timeout} */
		const endingInterval = (...timer) => {
			const interval = setInterval(...timer);
			this.intervals.push(interval);
			return interval;
		};
		this.global.setInterval = Object.assign(endingInterval, setInterval);
		// Up to n8n 2.30, `sleep` continues after what it limits has ended, which would keep a worker alive.
		/** @type {(...timer: Parameters<typeof setTimeout>) => NodeJS.Timeout} */
		const leftBehind = (...timer) => setTimeout(...timer).unref();
		if (process.send) this.global.setTimeout = Object.assign(leftBehind, setTimeout);
		this.global.loadSandbox = () => require('../sandbox/serve.ts');
	}

	/** @override */
	async teardown() {
		this.intervals.forEach(clearInterval);
		await super.teardown();
	}
};
