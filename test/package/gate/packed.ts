import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';

const root = resolve(__dirname, '../../..');
const notSource = ['node_modules', 'dist', '.git', '.demo', '.tmp'].map((name) => join(root, name));

/** The modules that n8n provides to community packages. */
export const offered = ['n8n-workflow', 'zod', 'luxon', 'lodash', 'p-limit', 'moment'];

/** The package as npm would publish it, and the sources it was made from. */
export interface Packed {
	/** A copy of the clone's sources. */
	source: string;
	/** The tarball's content, in a folder from which only the modules that n8n provides can be loaded. */
	unpacked: string;
	/** The paths in the tarball. */
	files: string[];
	bytes: number;
	remove(): void;
}

/** Packs the clone's build, if it is of the present sources, or a new one, and unpacks the package in a temporary folder. */
export function packClone(): Packed {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gate-')));
	const source = join(folder, 'source');
	const unpacked = join(folder, 'package');
	cpSync(root, source, { recursive: true, filter: (path) => !notSource.includes(path) });
	symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'), 'junction');

	runScript('pack.ts', [join(folder, 'tarball')], root, folder);
	const [tarball = ''] = globSync('tarball/*.tgz', { cwd: folder });
	execFileSync('tar', ['-xzf', tarball], { cwd: folder });
	mkdirSync(join(folder, 'node_modules'));
	for (const name of offered) {
		const module = join(root, 'node_modules', name);
		symlinkSync(module, join(folder, 'node_modules', name), 'junction');
	}
	const entries = globSync('**', { cwd: unpacked, withFileTypes: true });
	return {
		source,
		unpacked,
		files: entries
			.filter((entry) => entry.isFile())
			.map(({ parentPath, name }) => relative(unpacked, join(parentPath, name)))
			.map((file) => file.replaceAll(sep, '/')),
		bytes: statSync(join(folder, tarball)).size,
		remove: () => rmSync(folder, { recursive: true, force: true }),
	};
}

/**
 * Runs one of this folder's scripts in Node, since jest cannot load the modules that it uses.
 *
 * @param cwd the folder it works in
 * @param temporary the folder of its temporary files
 * @returns what it prints
 */
export function runScript(script: string, args: string[], cwd: string, temporary = dirname(cwd)): string {
	return execFileSync(process.execPath, [join(__dirname, script), ...args], {
		cwd,
		encoding: 'utf8',
		env: {
			...process.env,
			// If NODE_ENV is 'test', n8n's rules treat every file as the same test case.
			NODE_ENV: 'production',
			TMPDIR: temporary,
			TEMP: temporary,
		},
		maxBuffer: 16 * 1024 * 1024,
		stdio: ['ignore', 'pipe', 'inherit'],
	});
}
