'use strict';

/* Runs CRM Platform in a process of its own, so that it can be killed, and prints the items that it gives. */
const { endWith } = require('./from-sources.cjs');
const { run } = require('../integration/harness/node-runs.ts');

endWith(run(JSON.parse(process.argv[2])).then(({ items }) => JSON.stringify(items.map(({ json }) => json))));
