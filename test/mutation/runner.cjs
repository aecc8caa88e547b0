const Runner = require('jest-runner').default;

/** Runs test files in the order of `testMatch`, quick ones first, until one fails: Stryker would run all for each change. */
module.exports = class extends Runner {
	/**
	 * @override
	 * @param {import('@jest/test-result').Test[]} tests
	 * @param {import('jest-runner').TestWatcher} watcher
	 * @param {import('jest-runner').TestRunnerOptions} options
	 */
	async runTests(tests, watcher, options) {
		const place = (/** @type {import('@jest/test-result').Test} */ { path, context }) =>
			context.config.testMatch.findIndex((glob) => path.includes(glob.slice(glob.indexOf('/test/'), glob.indexOf('*'))));
		this.on('test-file-success', ([, { numFailingTests }]) => {
			if (numFailingTests > 0) watcher.setState({ interrupted: true });
		});
		await super.runTests([...tests].sort((first, second) => place(first) - place(second)), watcher, options);
	}
};
