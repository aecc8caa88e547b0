import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseCommandLine, usage, UsageError } from '../../../sandbox/command-line.ts';
import { startSandbox } from '../../../sandbox/serve.ts';
import { Store } from '../../../sandbox/core/store/store.ts';
import { callService } from '../harness/call-service.ts';
import { newDatabase } from '../harness/databases.ts';

const main = join(__dirname, '../../../sandbox/main.ts');

interface Run {
	process: ChildProcess;
	/** Its output so far. */
	output: { out: string; err: string };
	/** Resolves to the exit code when it ends. */
	end: Promise<number | null>;
}

function run(...args: string[]): Run {
	const child = spawn(process.execPath, [main, ...args]);
	const output = { out: '', err: '' };
	child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()));
	child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()));
	return { process: child, output, end: once(child, 'close').then(([code]) => code) };
}

async function firstLine({ process, output }: Run): Promise<string> {
	while (!output.out.includes('\n')) await once(process.stdout!, 'data');
	return output.out;
}

test.each([
	[['--colour'], "Unknown option '--colour'."],
	[['--port'], "Option '--port <value>' argument missing."],
	[['--day', '2026-02-30'], '--day takes a day such as 2026-01-31.'],
	[['--port', '70000'], '--port takes a whole number from 0 to 65535.'],
	[['--contacts', 'many'], '--contacts takes a whole number from 0 to 1000000.'],
	[['--plan', 'free'], '--plan takes one of starter, pro, enterprise.'],
	[['--api-key', 'two words'], '--api-key takes printable ASCII characters without spaces.'],
])('%j is reported as a mistake', (args, message) => {
	expect(() => parseCommandLine(args)).toThrow(UsageError);
	expect(() => parseCommandLine(args)).toThrow(message);
});

test('all options are understood', () => {
	const args = '--port 1 --db x.db --contacts 2 --day 2026-01-31 --api-key K --plan pro --requests-per-minute 3';
	const lifetimes = '--access-token-seconds 4 --refresh-grace-seconds 0';
	const flags = '--faults --allow-private-webhooks';
	expect(parseCommandLine(`${args} ${lifetimes} ${flags}`.split(' '))).toEqual({
		port: 1,
		db: 'x.db',
		contacts: 2,
		day: '2026-01-31',
		isLively: true,
		apiKey: 'K',
		plan: 'pro',
		requestsPerMinute: 3,
		tokenLifetimes: { accessToken: 4000, replacedRefreshToken: 0 },
		allowPrivateWebhooks: true,
		faults: true,
	});
	expect(parseCommandLine([])).toEqual({
		port: 4010,
		isLively: true,
		tokenLifetimes: {},
		allowPrivateWebhooks: false,
		faults: false,
	});
	expect(parseCommandLine(['--help'])).toBeUndefined();
	for (const flag of args.match(/--[\w-]+/g)!) expect(usage).toContain(flag);
});

test('a mistake ends the command with code 2', async () => {
	const { output, end } = run('--plan', 'free');
	expect(await end).toBe(2);
	expect(output).toEqual({ out: '', err: expect.stringContaining('See --help.') });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
	'the sandbox prints one line with its address, responds, and stops on %s',
	async (signal) => {
		const sandbox = run('--port', '0', '--contacts', '1', '--api-key', 'KEY');
		const line = await firstLine(sandbox);
		const [, url] = /(http:\S+) with the API key KEY\n$/.exec(line)!;
		expect((await callService(url!, 'KEY', 'GET', '/v1/contacts')).body).toMatchObject({ total: 1 });
		sandbox.process.kill(signal);
		expect(await sandbox.end).toBe(0);
		expect(sandbox.output).toEqual({ out: line, err: '' });
	},
);

test('a port in use is reported, with the remedy', async () => {
	const { url, close } = await startSandbox({ contacts: 0 });
	const port = Number(new URL(url).port);
	await expect(startSandbox({ port })).rejects.toThrow(`Port ${port} is in use. Stop the program that uses it`);
	await close();
});

test('a file that is not a database is reported', async () => {
	await expect(startSandbox({ db: main })).rejects.toThrow(`${main} cannot be used as a database`);
});

test('every start with the same file generates the same key, unless that was revoked, and has the same records', async () => {
	const db = newDatabase();
	const start = async () => {
		const { url, apiKey, close } = await startSandbox({ db, contacts: 3 });
		expect((await callService(url, apiKey, 'GET', '/v1/contacts')).body).toMatchObject({ total: 3 });
		await close();
		return apiKey;
	};
	const first = await start();
	expect(first).toMatch(/^crm_[\w-]{32}$/);
	expect(await start()).toBe(first);
	const store = new Store(db);
	store.apiKeys.revoke(store.apiKeys.find(first)!.id);
	store.close();
	expect(await start()).not.toBe(first);
});
