import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A proxy (CONNECT, RFC 9110, section 9.3.6) behind which one host is a server of ours. */
interface InterceptingProxy {
	url: string;
	/** A file with the certificate that programs have to trust. */
	certificate: string;
	close(): Promise<void>;
}

/**
 * Starts it. Requests to all other hosts are refused.
 *
 * @param host its name in requests
 * @throws Error where openssl, which makes the certificate, is not installed
 */
export async function startInterceptingProxy(host: string, answer: RequestListener): Promise<InterceptingProxy> {
	const folder = mkdtempSync(join(tmpdir(), 'intercepting-proxy-'));
	const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
	const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
	const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
	execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
	const inside = createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, answer);
	const proxy = createServer((_request, response) => response.writeHead(502).end());
	proxy.on('connect', (request, socket) => {
		socket.on('error', () => socket.destroy());
		if (request.url !== `${host}:443`) {
			socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
			return;
		}
		socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
		inside.emit('connection', socket);
	});
	await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
	return {
		url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
		certificate,
		async close() {
			proxy.closeAllConnections();
			await new Promise((closed) => proxy.close(closed));
			rmSync(folder, { recursive: true });
		},
	};
}
