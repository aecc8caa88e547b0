import { runJest } from './support/run-jest.ts';

/* npm run histories [test [times]]: plays more made-up histories; by default 20,000 of an undo. */
const [test = 'test/undo/histories', times = '200'] = process.argv.slice(2);
const { ok } = await runJest('histories', [test], { ...process.env, HISTORIES: times });
process.exitCode = ok ? 0 : 1;
