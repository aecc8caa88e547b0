/*
 * Entry point of every npm script: node tools/launch.mjs <file.ts> [arguments]
 *
 * It runs where only Node and npm are installed, so this file is plain JavaScript that even a very old
 * Node can read: it checks the version before it loads anything else.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 15)) {
	console.error(
		`This needs Node.js 20.15 or newer, and this is ${process.versions.node}: ` +
			'install a current one from https://nodejs.org and run the command again.',
	);
	process.exitCode = 1;
} else {
	import('./script.mjs').then(({ runScript }) => runScript(process.argv.slice(2)));
}
