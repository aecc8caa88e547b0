import js from '@eslint/js';
import { buildScanConfig } from '@n8n/scan-community-package/scanner/scanner.mjs';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** A name says what its value is, which these do not. */
const emptyNames = ['given', 'asked', 'known', 'told', 'kept', 'whole', 'one', 'own', 'wanted', 'made', 'what'];
/** Names of members of output items, which a member and what is read from it may have. */
const memberNames = ['kept'];
/**
 * Forbids names to what ESLint calls a selector.
 * @param {string[]} names
 * @param {{ selector: string | string[], modifiers?: string[] }} selector
 */
const without = (names, selector) => ({ ...selector, format: null, custom: { regex: `^(${names.join('|')})$`, match: false } });
/** Constants are in camelCase, as all variables. */
const capitals = '[A-Z][A-Z0-9_]+';
const emptyMemberNames = emptyNames.filter((name) => !memberNames.includes(name));

export default defineConfig(
	{ ignores: ['dist/', '.demo/', '.tmp/', 'contract/'] },
	{
		// The gate ignores disabling comments, so here they are reported instead of obeyed.
		linterOptions: { noInlineConfig: true },
	},
	{
		files: ['**/*.{ts,mjs}'],
		extends: [tseslint.configs.recommended],
		rules: {
			eqeqeq: ['error', 'always', { null: 'ignore' }],
			'no-warning-comments': 'error',
			// A file has one subject and is read from top to bottom.
			'max-lines': ['error', { max: 400 }],
			'@typescript-eslint/consistent-type-imports': 'error',
			'@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
		},
	},
	{
		files: ['**/*.ts'],
		extends: [tseslint.configs.recommendedTypeCheckedOnly],
		languageOptions: {
			parserOptions: { project: './tsconfig.all.json', tsconfigRootDir: import.meta.dirname },
		},
		rules: {
			// Values of JSON are unknown by nature, and told apart before they are shown.
			'@typescript-eslint/no-base-to-string': 'off',
			'@typescript-eslint/restrict-template-expressions': 'off',
			// Where a promise is asked for, `async` turns what is thrown into a rejection.
			'@typescript-eslint/require-await': 'off',
			// Our objects hold functions that know no `this`, so they may be passed on alone.
			'@typescript-eslint/unbound-method': 'off',
		},
	},
	{
		files: ['**/*.{ts,mjs}'],
		// The functions of a test file hold its tests, each of them short.
		ignores: ['**/*.test.ts'],
		rules: { 'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }] },
	},
	{
		files: ['**/*.{ts,mjs}'],
		// The names of another package.
		ignores: ['**/*.d.ts'],
		rules: {
			'@typescript-eslint/naming-convention': [
				'error',
				without(emptyNames, { selector: 'default' }),
				without([...emptyNames, capitals], { selector: 'variable' }),
				without(emptyMemberNames, { selector: 'property' }),
				without(emptyMemberNames, { selector: ['variable', 'parameter'], modifiers: ['destructured'] }),
			],
		},
	},
	{
		// A test looks at answers of any shape; what it expects of them is the check.
		files: ['test/**/*.ts'],
		rules: {
			'@typescript-eslint/no-unsafe-argument': 'off',
			'@typescript-eslint/no-unsafe-assignment': 'off',
			'@typescript-eslint/no-unsafe-call': 'off',
			'@typescript-eslint/no-unsafe-member-access': 'off',
			'@typescript-eslint/no-unsafe-return': 'off',
			'no-restricted-syntax': [
				'error',
				{
					selector: "CallExpression[callee.object.name='fc'][callee.property.name=/^(assert|check)$/][arguments.length<2]",
					message: 'Pass randomRuns(…): values that differ from run to run fail a check at random.',
				},
				{
					selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
					message: 'Chance belongs in test/support/random-runs.ts: a test does the same each time.',
				},
			],
		},
	},
	{
		files: ['{test,sandbox}/**/*.{ts,mjs}'],
		ignores: ['test/mutation/**'],
		// A tab is one character. A text or a pattern that is alone on its line cannot be broken.
		rules: { 'max-len': ['error', { code: 140, tabWidth: 1, ignoreUrls: true, ignorePattern: '^\\s*([\'`"]|/(?![/*])).*[\'`"/],?$' }] },
	},
	{
		files: ['{nodes,credentials}/**/*.ts'],
		// A text that users read stays on its line, so that it can be found.
		rules: { 'max-len': ['error', { code: 150, tabWidth: 1, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true }] },
	},
	{
		// What n8n's verification lints, with its very rules (those of eslint-plugin-n8n-nodes-base among them).
		files: ['package.json', '{nodes,credentials}/**/*.{js,ts,json}'],
		extends: [await buildScanConfig()],
	},
	{
		// What the lint of n8n's CLI (@n8n/node-cli 0.48) has beside these.
		files: ['{nodes,credentials}/**/*.ts'],
		extends: [js.configs.recommended],
		rules: { 'no-undef': 'off', 'no-redeclare': 'off', '@typescript-eslint/no-unused-vars': 'error' },
	},
);
