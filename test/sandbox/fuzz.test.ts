import { testPromises } from '../fuzz/promises-of-all.ts';

testPromises({ runs: 12, seed: 1 });
