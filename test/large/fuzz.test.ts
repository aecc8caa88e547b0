import { testPromises } from '../fuzz/promises-of-all.ts';
import { randomRuns } from '../random-runs.ts';

const { numRuns: runs, seed } = randomRuns(100, 2);
testPromises({ runs, seed });
