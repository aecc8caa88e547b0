import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A network distance: forwards everything to the server at an address (first argument) and its answers
 * back, each after half of some milliseconds (second argument). It is a separate process, so that the
 * distance is the same however busy the server is. A new connection costs nothing, unless the third
 * argument is `handshakes`: then it takes a round trip, as in a network.
 */
const target = new URL(process.argv[2]!);
const half = Number(process.argv[3]) / 2;
const handshake = process.argv[4] === 'handshakes' ? 2 * half : 0;

const server = createServer({ noDelay: true }, (near) => {
	const far = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
	setTimeout(() => pass(near, far), handshake);
	pass(far, near);
});
server.listen(0, '127.0.0.1', () => {
	console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

/** Timers of one length end in the order in which they began, so the bytes stay in order. */
function pass(from: Socket, to: Socket): void {
	from.on('data', (chunk) => setTimeout(() => to.write(chunk), half));
	from.on('end', () => setTimeout(() => to.end(), half));
	from.on('error', () => to.destroy());
}
