import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { demoMembers } from '../../sandbox/seed/demo-members.ts';
import type { LoggedRequest } from '../../sandbox/control/request-log.ts';
import { until } from '../until.ts';

const main = join(__dirname, '../../sandbox/main.ts');
const args = '--port 0 --contacts 1 --api-key KEY --faults';

/** Endpoints that read bodies, with the type of each body. */
const uploads: Array<[path: string, type: string, more?: string]> = [
	['/v1/contacts', 'application/json'],
	['/v1/contacts', 'application/json', 'Content-Encoding: gzip\r\n'],
	['/v1/contacts/batch/create', 'application/json'],
	['/v1/jobs?resource=contacts&operation=create', 'application/x-ndjson'],
	['/v1/jobs?resource=contacts&operation=create', 'application/x-ndjson', 'Content-Encoding: gzip\r\n'],
	['/oauth/token', 'application/x-www-form-urlencoded'],
	['/sign-in', 'application/x-www-form-urlencoded'],
	['/records/contacts', 'application/x-www-form-urlencoded'],
];

let child: ChildProcessWithoutNullStreams;
afterAll(() => child.kill('SIGKILL'));

test('interrupted uploads leave no line in the log, and other requests are answered', async () => {
	child = spawn(process.execPath, [main, ...args.split(' ')]);
	let errors = '';
	child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
	const [line] = (await once(child.stdout, 'data')) as [Buffer];
	const url = new URL(/http:\S+/.exec(line.toString())![0]);
	const { email, password } = demoMembers[0]!;
	const signIn = { method: 'POST', body: new URLSearchParams({ email, password }), redirect: 'manual' } as const;
	const cookie = (await fetch(new URL('/sign-in', url), signIn)).headers.getSetCookie()[0]!.split(';')[0]!;

	/** Breaks off an upload once the service has begun to read it. */
	const breakOff = async ([path, type, more = '']: (typeof uploads)[number], length: string, isReset: boolean) => {
		const socket = connect(Number(url.port), url.hostname);
		const commonHeaders = `Host: ${url.host}\r\nAuthorization: Bearer KEY\r\nCookie: ${cookie}\r\nExpect: 100-continue\r\n`;
		socket.write(`POST ${path} HTTP/1.1\r\n${commonHeaders}Content-Type: ${type}\r\n${more}${length}\r\n\r\n`);
		await once(socket, 'data');
		if (isReset) socket.resetAndDestroy();
		else socket.destroy();
	};
	for (const upload of uploads) {
		for (const length of ['Content-Length: 5000', 'Transfer-Encoding: chunked']) {
			for (const isReset of [true, false]) await breakOff(upload, length, isReset);
		}
	}
	const logged = await until(async () => {
		const response = await fetch(new URL('/_sandbox/requests', url));
		const requests = (await response.json()) as LoggedRequest[];
		const broken = requests.filter(({ authorization }) => authorization !== null);
		return broken.length === 4 * uploads.length && broken;
	}, 30_000);
	expect(logged.filter(({ status }) => status !== 400).map(({ path, status }) => [path, status])).toEqual([]);
	child.kill('SIGTERM');
	expect(await once(child, 'close')).toEqual([0, null]);
	expect(errors).toBe('');
});
