import { publish } from './report.ts';
import { benchSandbox } from './sandbox.ts';

/** Every benchmark by name: `npm run bench` runs all, `npm run bench sandbox` one. */
const benchmarks: Record<string, () => Promise<void>> = {
	sandbox: async () =>
		publish({ name: 'sandbox', ours: 'sandbox', bare: 'bare server', rows: await benchSandbox() }),
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !Object.hasOwn(benchmarks, name));
if (unknown === undefined) {
	for (const name of asked.length > 0 ? asked : Object.keys(benchmarks)) await benchmarks[name]!();
} else {
	console.error(`There is no benchmark ${unknown}, only ${Object.keys(benchmarks).join(', ')}.`);
	process.exitCode = 2;
}
