import { explainNpm } from '../../tools/npm-errors.mjs';

describe('An npm command that failed', () => {
	const explain = (output: string) => explainNpm(['install', 'n8n'], output, '/cache/npm.log');

	test.each([
		['npm error code ENOTFOUND\nnpm error request to https://registry.invalid/n8n', /registry/],
		['npm error code ECONNREFUSED', /registry cannot be reached/],
		['npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device', /disk is full/],
		['npm error code E401\nnpm error Incorrect or missing password', /npm login/],
		['gyp ERR! find Python Python is not set', /compiler/],
		['npm error code EACCES', /refused access/],
	])('is explained: %j', (output, words) => {
		expect(explain(output)).toMatch(words);
	});

	test('of unknown kind is shown in npm’s words, without warnings', () => {
		const message = explain('npm warn old lockfile\nnpm error code EODD\nnpm error Odd thing');

		expect(message).toContain('npm error Odd thing');
		expect(message).not.toContain('old lockfile');
	});

	test('always names its log', () => {
		expect(explain('npm error code ENOSPC')).toContain('/cache/npm.log');
		expect(explain('')).toContain('/cache/npm.log');
	});
});
