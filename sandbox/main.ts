import { parseCommandLine, usage, UsageError } from './command-line.ts';
import { startSandbox } from './serve.ts';

/** The command line of the sandbox: `npm run sandbox -- --help`. */
async function main(): Promise<void> {
	const options = parseCommandLine(process.argv.slice(2));
	if (!options) {
		process.stdout.write(usage);
		return;
	}
	const { url, apiKey, close } = await startSandbox(options);
	console.log(`The CRM Platform sandbox listens on ${url} with the API key ${apiKey}`);
	for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close());
}

main().catch((error: Error) => {
	const isUsage = error instanceof UsageError;
	console.error(isUsage ? `${error.message} See --help.` : error.message);
	process.exitCode = isUsage ? 2 : 1;
});
