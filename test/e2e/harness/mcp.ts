import { createRequire } from 'node:module';
import { join } from 'node:path';
import { theWorld } from './access.ts';

/** A client of n8n's MCP Server Trigger. */
interface McpClient {
	/** The answer, as text. */
	listTools(): Promise<string>;
	call(name: string, input: object): Promise<string>;
}

/** The part of the protocol's own client that is used here. */
interface SdkClient {
	connect(transport: unknown): Promise<void>;
	listTools(): Promise<object>;
	callTool(request: object): Promise<object>;
	close(): Promise<void>;
}

const clients: SdkClient[] = [];

afterEach(async () => {
	for (const client of clients.splice(0)) await client.close();
});

/**
 * The client of the protocol's own SDK, from the folder of the n8n that runs.
 *
 * @param path of the trigger in a published workflow
 * @param token of its Bearer Auth, if it has one
 * @param urls of the processes that are asked, in turns
 */
export function mcpClient(path: string, token?: string, urls = [theWorld().n8nUrl]): McpClient {
	const { n8nFolder } = theWorld();
	let requests = 0;
	const inTurns = async (url: string | URL, init?: RequestInit) => await fetch(new URL(new URL(url).pathname, urls[requests++ % urls.length]), init);
	let connecting: Promise<SdkClient> | undefined;
	const connect = async (): Promise<SdkClient> => {
		const load = createRequire(join(n8nFolder, 'package.json'));
		const { Client } = load('@modelcontextprotocol/sdk/client/index.js') as { Client: new (info: object) => SdkClient };
		const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js') as { StreamableHTTPClientTransport: new (url: URL, options: object) => unknown };
		const client = new Client({ name: 'test', version: '1' });
		clients.push(client);
		const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
		await client.connect(new StreamableHTTPClientTransport(new URL(`${urls[0]}/mcp/${path}`), { requestInit: { headers }, fetch: inTurns }));
		return client;
	};
	const connected = async () => await (connecting ??= connect());
	return {
		listTools: async () => JSON.stringify(await (await connected()).listTools()),
		call: async (name, input) => JSON.stringify(await (await connected()).callTool({ name, arguments: input })),
	};
}
