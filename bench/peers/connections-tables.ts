import { markdownTable, seconds } from './markdown.ts';
import type { PeerResults } from './results.ts';

/** What connections cost, as Markdown. */
export function connectionsPage({ connections, gains }: PeerResults): string {
	const options = markdownTable([
		['', 'requests', 'connections', 'left open', 'ms a request', 'ms a request at 50 ms'],
		...connections.map(({ option, nearMs, farMs, requests, connections: opened, open }) => [
			option.startsWith('httpRequest,') ? '**httpRequest, with n8n changed**' : option,
			`${requests}`,
			`${opened}`,
			`${open}`,
			nearMs.toPrecision(2),
			`${Math.round(farMs)}`,
		]),
	]);
	const lists = markdownTable([
		['Lists at 50 ms over TLS, in seconds', 'n8n as it is', 'changed'],
		...gains.map(({ subject, count, asItIs, changed }) => [
			`${subject}, ${count.toLocaleString('en')} records`,
			seconds(asItIs),
			seconds(changed),
		]),
	]);
	return `${options}\n\n${lists}`;
}
