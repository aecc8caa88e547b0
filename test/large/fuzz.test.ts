import { testPromises } from '../fuzz/promises-of-all.ts';

// To look further: FUZZ_RUNS=1000 FUZZ_SEED=7 npx jest test/large/fuzz
testPromises({
	runs: Number(process.env['FUZZ_RUNS'] ?? 100),
	seed: Number(process.env['FUZZ_SEED'] ?? 2),
});
