/**
 * fast-check as the tests get it (`moduleNameMapper` in jest.config.js): with the same histories in each
 * run, as a test that fails must fail again. `FAST_CHECK_SEED=7 npx jest …` plays others.
 */
const fc = require('../node_modules/fast-check/lib/cjs/fast-check.js');

fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 1) });
module.exports = fc;
