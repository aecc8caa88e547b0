const Sequencer = require('@jest/test-sequencer').default;

/** Runs test files in the order of `testMatch`, quick ones first, as the first test that fails ends the run for a change. */
module.exports = class extends Sequencer {
	/**
	 * @override
	 * @param {import('@jest/test-result').Test[]} tests
	 */
	sort(tests) {
		const place = (/** @type {import('@jest/test-result').Test} */ { path, context }) =>
			context.config.testMatch.findIndex((glob) => path.includes(glob.slice(glob.indexOf('/test/'), glob.indexOf('*'))));
		return [...tests].sort((first, second) => place(first) - place(second));
	}
};
