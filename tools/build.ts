import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { runGroup } from './child.mjs';
import { Failure, reportFailure } from './failure.mjs';
import { linkPackage, modulesFolder } from './link.ts';
import { withLock } from './lock.mjs';
import { type Contract, type Menu, outputSchemas } from './output-schemas.ts';

/** Files that n8n reads besides the compiled code: icons and codex files. */
const copiedPatterns = ['icons/*.svg', '{nodes,credentials}/**/*.svg', 'nodes/**/*.node.json'];

/** Everything a build depends on, besides installed packages. */
const sourcePatterns = ['package.json', 'package-lock.json', 'tsconfig.json', 'tools/*.{ts,mjs}', '{nodes,credentials,icons,contract}/**/*.{ts,json,svg}'];

const lockFile = resolve('.tmp', 'build.lock');
/** The hash of the sources in dist; missing while a build runs, and after one that failed. */
const stampFile = resolve('.tmp', 'build.sha256');

/**
 * Builds the package into an empty dist. The clone must be the current folder. If several processes build at once,
 * one does and the others wait; they build again only if the sources have changed.
 *
 * @throws {Failure} if the sources do not compile; the compiler has printed the errors
 */
export async function buildPackage(): Promise<void> {
	await withBuiltPackage(async () => {});
}

/**
 * Builds the package and runs `work` with it. No other process builds meanwhile, since a build first removes the
 * previous one.
 *
 * @param reuse whether an existing build of the same sources is used
 * @throws {Failure} if the sources do not compile
 */
export async function withBuiltPackage<T>(work: () => Promise<T>, reuse = false): Promise<T> {
	let hasWaited = false;
	const build = async () => {
		if ((reuse || hasWaited) && isBuilt()) {
			if (hasWaited) console.log('The other process has built the same sources: its build is used.');
		} else await rebuild();
		return await work();
	};
	return await withLock(lockFile, build, (holder) => {
		hasWaited = true;
		console.log(`Waiting for another process that is building the package in this folder (process ${holder}) ...`);
	});
}

function isBuilt(): boolean {
	return existsSync('dist') && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === sourcesHash();
}

function sourcesHash(): string {
	const hash = createHash('sha256');
	for (const file of globSync(sourcePatterns).sort()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
	return hash.digest('hex');
}

async function rebuild(): Promise<void> {
	const compiled = resolve('.tmp', 'compiled');
	for (const path of [stampFile, 'dist', compiled, modulesFolder]) rmSync(path, { recursive: true, force: true });
	// Hashed before the compiler reads them: a file saved in between may not be in the build.
	const hash = sourcesHash();
	const compiler = resolve('node_modules', 'typescript', 'bin', 'tsc');
	const code = await runGroup(process.execPath, [compiler, '-p', 'tsconfig.json', '--outDir', compiled], {
		stdio: 'inherit',
	});
	if (code !== 0) throw new Failure('The package was not built: its sources do not compile.');
	await linkPackage(compiled, 'dist');
	for (const file of globSync(copiedPatterns)) cpSync(file, join('dist', file));
	writeOutputSchemas(join('dist', 'nodes', 'CrmPlatform'));
	mkdirSync(join('dist', 'contract'));
	writeContract(join('dist', 'contract', 'openapi.json'));
	writeFileSync(stampFile, hash);
}

/** Writes the contract as the node reads it: without its examples, which are half of it. */
function writeContract(path: string): void {
	const isExample = (name: string) => name === 'example' || name === 'examples';
	const contract: unknown = JSON.parse(readFileSync('contract/openapi.json', 'utf8'));
	const text = JSON.stringify(contract, (name, value: unknown) =>
		isExample(name) ? undefined : value,
	);
	writeFileSync(path, text);
}

/** Writes the schemas with which n8n previews the node's output before it has run. */
function writeOutputSchemas(node: string): void {
	const { everydayMenu, adminMenu } = createRequire(import.meta.url)(join(modulesFolder, 'nodes', 'CrmPlatform', 'resources', 'index.js')) as Record<
		string,
		Menu[]
	>;
	const contract = JSON.parse(readFileSync('contract/openapi.json', 'utf8')) as Contract;
	for (const { file, schema } of outputSchemas(contract, [...everydayMenu!, ...adminMenu!])) {
		const path = join(node, file);
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, JSON.stringify(schema));
	}
}

if (process.argv[1] === resolve('tools', 'build.ts')) buildPackage().catch(reportFailure);
