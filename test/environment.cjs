const { TestEnvironment } = require('jest-environment-node');

// Jest reports a worker that has not exited after half a second as hanging. On a busy machine, freeing hundreds of
// megabytes before the exit takes longer, and is of no use.
if (process.send) {
	process.once('exit', (code) => {
		for (const listener of process.listeners('exit')) listener.call(process, code);
		Reflect.get(process, 'reallyExit').call(process, code);
	});
}

/**
 * A timer that does not keep its process alive.
 * @template {(...timer: any[]) => NodeJS.Timeout} Start
 * @param {Start} start
 */
function leftBehind(start) {
	return Object.assign((/** @type {Parameters<Start>} */ ...timer) => start(...timer).unref(), start);
}

/**
 * Gives tests the sandbox as Node.js loads it, once for all test files of a process: jest would load it
 * again for each file. Only for tests that call the sandbox over HTTP, as its classes are not those that a
 * test imports.
 */
module.exports = class extends TestEnvironment {
	/** @param {ConstructorParameters<typeof TestEnvironment>} settings */
	constructor(...settings) {
		super(...settings);
		// Old versions of n8n leave timers behind, which would keep a worker alive: n8n-core looks after SSH
		// connections, and `sleep` continues after what it limits has ended (up to 2.30).
		const { setTimeout, setInterval } = this.global;
		if (process.send) Object.assign(this.global, { setTimeout: leftBehind(setTimeout), setInterval: leftBehind(setInterval) });
		this.global.loadSandbox = () => require('../sandbox/serve.ts');
	}
};
