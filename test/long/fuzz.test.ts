import { testPromises } from '../contract/fuzz/promises-of-all.ts';
import { randomRuns } from '../support/random-runs.ts';

const { numRuns: runs, seed } = randomRuns(100, 2);
testPromises({ runs, seed });
