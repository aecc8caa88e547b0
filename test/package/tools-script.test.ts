import { mustForward } from '../../tools/child.mjs';
import { parseArguments } from '../../tools/script.mjs';

describe('The launcher', () => {
	test('separates its own options from those of the script', () => {
		const args = ['--without-tests', '--with-n8n', 'demo/start.ts', '--fresh'];

		expect(parseArguments(args)).toEqual({ file: 'demo/start.ts', args: ['--fresh'], tests: false, n8n: true });
	});

	test.each([[[]], [['--with-n8n']], [['--without-test', 'demo/start.ts']]])(
		'refuses %j, which names no script or an unknown option',
		(args) => expect(() => parseArguments(args)).toThrow('Usage:'),
	);
});

describe('A stop signal', () => {
	test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
		'%s is handed on to a program in the same terminal on macOS and Linux',
		(signal) => {
			expect(mustForward(signal, 'darwin')).toBe(true);
			expect(mustForward(signal, 'linux')).toBe(true);
		},
	);

	test('of the console is left to Windows, where handing it on would kill', () => {
		expect(mustForward('SIGINT', 'win32')).toBe(false);
		expect(mustForward('SIGHUP', 'win32')).toBe(false);
	});
});
