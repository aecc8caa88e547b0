import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../../support/listen.ts';

/** A proxy (CONNECT, RFC 9110, section 9.3.6) that answers requests to one host itself. */
interface InterceptingProxy {
	url: string;
	/** The file of the certificate that programs have to trust. */
	certificate: string;
	close(): Promise<void>;
}

/**
 * Starts a proxy that refuses requests to all other hosts.
 *
 * @param host the name of the host
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
	return {
		url: await listen(proxy),
		certificate,
		async close() {
			proxy.closeAllConnections();
			await new Promise((closed) => proxy.close(closed));
			rmSync(folder, { recursive: true });
		},
	};
}
