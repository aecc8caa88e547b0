import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { runGroup } from './child.mjs';
import { Failure, reportFailure } from './failure.mjs';
import { linkPackage, modulesFolder } from './link.ts';
import { type Contract, type Menu, outputSchemas } from './output-schemas.ts';

/** What n8n reads beside the compiled code: icons and codex files. */
const COPIED = ['icons/*.svg', '{nodes,credentials}/**/*.svg', 'nodes/**/*.node.json'];

/**
 * Builds the package into dist, from nothing. The clone must be the current folder.
 *
 * @throws {Failure} when the sources do not compile; the compiler has said why.
 */
export async function buildPackage(): Promise<void> {
	rmSync('dist', { recursive: true, force: true });
	const compiler = resolve('node_modules', 'typescript', 'bin', 'tsc');
	const compiled = resolve('.tmp', 'compiled');
	for (const folder of [compiled, modulesFolder]) rmSync(folder, { recursive: true, force: true });
	const code = await runGroup(process.execPath, [compiler, '-p', 'tsconfig.json', '--outDir', compiled], {
		stdio: 'inherit',
	});
	if (code !== 0) throw new Failure('The package was not built: its sources do not compile.');
	await linkPackage(compiled, 'dist');
	for (const file of globSync(COPIED)) cpSync(file, join('dist', file));
	writeOutputSchemas(join('dist', 'nodes', 'CrmPlatform'));
	mkdirSync(join('dist', 'contract'));
	writeContract(join('dist', 'contract', 'openapi.json'));
}

/** Writes the contract as the node reads it: without the examples, which are half of it. */
function writeContract(path: string): void {
	const isExample = (name: string) => name === 'example' || name === 'examples';
	const contract: unknown = JSON.parse(readFileSync('contract/openapi.json', 'utf8'));
	const text = JSON.stringify(contract, (name, value: unknown) =>
		isExample(name) ? undefined : value,
	);
	writeFileSync(path, text);
}

/** Writes what n8n shows of the node's output before it has run. */
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
