import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { runGroup } from '../../tools/child.mjs';

/*
 * Lints the whole clone, the current folder, and takes ESLint's own arguments, such as --fix.
 * A warning fails as an error does. The gate's scanner leaves a folder behind in TMPDIR each time
 * it is loaded, so it gets a TMPDIR that is removed afterwards.
 */
const eslint = resolve('node_modules', 'eslint', 'bin', 'eslint.js');
const temporary = mkdtempSync(join(tmpdir(), 'lint-'));
try {
	process.exitCode = await runGroup(
		process.execPath,
		[eslint, '.', '--max-warnings', '0', ...process.argv.slice(2)],
		{ stdio: 'inherit', env: { ...process.env, TMPDIR: temporary, TEMP: temporary } },
	);
} finally {
	rmSync(temporary, { recursive: true, force: true });
}
