import { runJest } from '../tools/jest.ts';

/* npm run histories [test [times]]: plays more made-up histories; without more, 20,000 of an undo, in about half an hour. */
const [test = 'test/integration/undo-histories', times = '40'] = process.argv.slice(2);
const { ok } = await runJest('histories', [test], { ...process.env, HISTORIES: times });
process.exitCode = ok ? 0 : 1;
