/** The meaning of npm's error codes and messages for the user. */
const explanations = [
	{
		sign: /\bENOSPC\b|no space left on device/i,
		meaning: 'The disk is full. Free some space (n8n needs 3 GB) and run the command again.',
	},
	{
		sign: /\b(ENOTFOUND|EAI_AGAIN|E(CONN|NET|HOST)\w+|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b/,
		meaning: 'The npm registry cannot be reached. Check the network and the proxy (npm config get registry proxy https-proxy), then run the command again.',
	},
	{
		sign: /\b(CERT_|UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET_ISSUER)/,
		meaning: "The npm registry's certificate is not trusted here. Name your network's certificate in npm (npm config set cafile <file>) and run the command again.",
	},
	{
		sign: /\b(code E40[13]|EACCES|EPERM|EROFS)\b/,
		meaning: 'The npm registry or a folder refused access, see the log. For the registry, sign in to it (npm login).',
	},
	{
		sign: /gyp ERR! find Python|not found: make|make: .*(g\+\+|cc|c\+\+).*not found|find VS/i,
		meaning: 'A native module has no ready-made binary for this system and no compiler was found. Install Python 3, make and a C++ compiler (Debian: apt-get install python3 build-essential) and run the command again.',
	},
];

/** Enough lines to see npm's error. */
const shownLines = 8;

/**
 * The message for an npm command that failed.
 *
 * @param {string[]} args npm's arguments
 * @param {string} output npm's output
 * @param {string} log the file with the complete output
 */
export function explainNpm(args, output, log) {
	const explanation = explanations.find(({ sign }) => sign.test(output));
	const details = explanation ? [explanation.meaning] : ['Its output:', ...complaint(output)];
	return [`npm ${args[0]} failed. ${details.join('\n    ')}`, `  Full log: ${log}`].join('\n');
}

/** @param {string} output */
function complaint(output) {
	const lines = output.split('\n').filter((line) => line.trim() && !line.startsWith('npm warn'));
	const errors = lines.filter((line) => /^npm (error|ERR!) \S/.test(line));
	return errors.length > 0 ? errors.slice(0, shownLines) : lines.slice(-shownLines);
}
