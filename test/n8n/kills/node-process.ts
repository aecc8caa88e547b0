import { run } from '../../support/node-runs.ts';
import type { Setup } from '../../support/node-context.ts';
import { endWith, inputOfProcess } from './killable-node.ts';

/** Runs CRM Platform, and prints the items that it gives. */
endWith(run(inputOfProcess<Setup>()).then(({ items }) => JSON.stringify(items.map(({ json }) => json))));
