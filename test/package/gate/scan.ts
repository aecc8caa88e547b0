import * as newestRules from '@n8n/eslint-plugin-community-nodes';
import { analyzePackage, buildScanConfig, SOURCE_FILE_PATTERNS } from '@n8n/scan-community-package/scanner/scanner.mjs';
import { ESLint, type Linter } from 'eslint';
import { globSync } from 'node:fs';

/*
 * node scan.ts (source|nodes|tarball <folder>)...: prints the results of n8n's verification of each folder as JSON,
 * [{ passed, complaints }]. jest cannot load the scanner. It counts only errors, so its rules run once more for
 * their warnings, with the newest rules of n8n's plugin, as the scanner comes with older ones.
 */
const patterns: Record<string, string[]> = {
	source: SOURCE_FILE_PATTERNS,
	nodes: ['package.json', '{nodes/**/*.node,credentials/**/*}.{ts,json}'],
	tarball: ['**/*.js', 'package.json'],
};

const gate = await buildScanConfig();
const newest = gate.map((config) =>
	config.plugins && '@n8n/community-nodes' in config.plugins
		? { ...config, ...newestRules.configs.recommended }
		: config,
);
const results = [];
const args = process.argv.slice(2);
for (let i = 0; i < args.length; i += 2) results.push(await scan(args[i]!, args[i + 1]!));
process.stdout.write(JSON.stringify(results));

async function scan(kind: string, folder: string) {
	const files = patterns[kind];
	if (!files) throw new Error(`There is no kind of folder ${kind}.`);
	const { passed } = await analyzePackage(folder, files);
	return { passed, complaints: await lint(folder, files, newest) };
}

async function lint(folder: string, files: string[], overrideConfig: Linter.Config[]): Promise<string[]> {
	const eslint = new ESLint({ cwd: folder, allowInlineConfig: false, overrideConfigFile: true, overrideConfig });
	const found = globSync(files, { cwd: folder, exclude: ['node_modules/**'] });
	const linted = await eslint.lintFiles(found);
	return linted.flatMap(({ filePath, messages }) =>
		messages.map(({ line, ruleId, message }) => {
			const file = filePath.slice(folder.length + 1);
			return `${file}:${line} ${message} (${ruleId})`;
		}),
	);
}
