import * as newestRules from '@n8n/eslint-plugin-community-nodes';
import {
	analyzePackage,
	buildScanConfig,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';
import { ESLint, type Linter } from 'eslint';
import { globSync } from 'node:fs';

/*
 * node scan.ts source|tarball <folder>: prints the result of n8n's verification of a folder as JSON,
 * { passed, complaints }. jest cannot load the scanner. It counts only errors, so its rules run once more for
 * their warnings, and a third time with the newest rules of n8n's plugin, as the scanner comes with older ones.
 */
const patterns: Record<string, string[]> = {
	source: SOURCE_FILE_PATTERNS,
	tarball: ['**/*.js', 'package.json'],
};

const [kind = '', folder = ''] = process.argv.slice(2);
const files = patterns[kind];
if (!files || !folder) throw new Error('Usage: node scan.ts source|tarball <folder>');

const gate = await buildScanConfig();
const newest = gate.map((config) =>
	config.plugins && '@n8n/community-nodes' in config.plugins
		? { ...config, ...newestRules.configs.recommended }
		: config,
);
const { passed } = await analyzePackage(folder, files);
const complaints = new Set([...(await lint(gate)), ...(await lint(newest))]);
process.stdout.write(JSON.stringify({ passed, complaints: [...complaints] }));

async function lint(overrideConfig: Linter.Config[]): Promise<string[]> {
	const eslint = new ESLint({ cwd: folder, allowInlineConfig: false, overrideConfigFile: true, overrideConfig });
	const found = globSync(files ?? [], { cwd: folder, exclude: ['node_modules/**'] });
	const results = await eslint.lintFiles(found);
	return results.flatMap(({ filePath, messages }) =>
		messages.map(({ line, ruleId, message }) => {
			const file = filePath.slice(folder.length + 1);
			return `${file}:${line} ${message} (${ruleId})`;
		}),
	);
}
