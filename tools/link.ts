import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type InputPluginOption, type OutputPlugin, rollup } from '@rollup/wasm-node';
import { Failure } from './failure.mjs';

/** The unbundled modules, for tools that inspect the package. */
export const modulesFolder = resolve('.tmp', 'modules');

/**
 * The file into which each module is bundled, by the start of its path: loading 300 files took longer than running them.
 * Modules that only one node needs are bundled separately.
 */
const parts: ReadonlyArray<[path: string, file: string]> = [
	['nodes/CrmPlatform/toolkit/', 'nodes/CrmPlatform/toolkit'],
	['nodes/CrmPlatform/sync/', 'nodes/CrmPlatform/sync'],
	['nodes/CrmPlatform/trigger/', 'nodes/CrmPlatform/trigger'],
	['nodes/', 'nodes/CrmPlatform/connector'],
	['credentials/', 'credentials/settings'],
];

/**
 * Bundles compiled modules into the files that n8n loads: one for each node and credential, and the parts that
 * they share, which a process loads only once.
 *
 * @param compiled the folder of the modules, with `import` and `export`
 * @throws {Failure} if imports form a cycle or a module is missing
 */
export async function linkPackage(compiled: string, output: string): Promise<void> {
	const { n8n } = JSON.parse(readFileSync('package.json', 'utf8')) as { n8n: { nodes: string[]; credentials: string[] } };
	const entries = [...n8n.nodes, ...n8n.credentials].map((file) => file.replace(/^dist\//, ''));
	const fileOf = (path: string) => parts.find(([begin]) => relative(compiled, path).replaceAll(sep, '/').startsWith(begin))?.[1];
	const bundle = await rollup({
		input: Object.fromEntries(entries.map((file) => [file.replace(/\.js$/, ''), join(compiled, file)])),
		external: (id) => !id.startsWith('.') && !id.startsWith(compiled),
		plugins: [besideSources],
		// No tree shaking, so that the code that runs is the code that was tested.
		treeshake: false,
		onwarn({ message }) {
			throw new Failure(`The package was not built: ${message}`);
		},
	});
	const format = { format: 'cjs', exports: 'named', dynamicImportInCjs: false, entryFileNames: '[name].js', hoistTransitiveImports: false } as const;
	await bundle.write({
		...{ ...format, dir: output, chunkFileNames: '[name].js' },
		plugins: [indentedByTabs],
		manualChunks: (path, { getModuleInfo }) => (getModuleInfo(path)?.isEntry ? undefined : fileOf(path)),
	});
	await bundle.write({ ...format, dir: modulesFolder, preserveModules: true, preserveModulesRoot: compiled });
	await bundle.close();
}

/** Indents by tabs as the sources do: the compiler’s spaces take 5,000 bytes of the package. */
const indentedByTabs: OutputPlugin = {
	name: 'indented by tabs',
	renderChunk: (code) => code.replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4)),
};

/** Resolves modules without an extension and reads JSON, as the compiler does; the contract stays a separate file. */
const besideSources: InputPluginOption = {
	name: 'beside sources',
	resolveId(name, from) {
		if (from === undefined || !name.startsWith('.')) return null;
		const path = resolve(dirname(from), name);
		if (name.endsWith('openapi.json')) return { id: path, external: 'relative' };
		return [path, `${path}.js`, join(path, 'index.js')].find((file) => statSync(file, { throwIfNoEntry: false })?.isFile()) ?? null;
	},
	transform: (code, id) => (id.endsWith('.json') ? `export default ${code}` : null),
};
