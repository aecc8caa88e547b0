import { theWorld } from './access.ts';

/** A client of n8n's MCP Server Trigger, which speaks the protocol over HTTP. */
export interface McpClient {
	/** The answer, as text. */
	listTools(): Promise<string>;
	call(name: string, given: object): Promise<string>;
}

/**
 * @param path of the trigger in a published workflow
 * @param token of its Bearer Auth, if it has one
 */
export function mcpClient(path: string, token?: string): McpClient {
	let session = '';
	let requests = 0;
	const ask = async (method: string, params: object, isNotice = false): Promise<string> => {
		const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...(token && { Authorization: `Bearer ${token}` }), ...(session && { 'mcp-session-id': session }) };
		const body = JSON.stringify({ jsonrpc: '2.0', method, params, ...(!isNotice && { id: ++requests }) });
		const response = await fetch(`${theWorld().n8nUrl}/mcp/${path}`, { method: 'POST', headers, body });
		session = response.headers.get('mcp-session-id') ?? session;
		return await response.text();
	};
	const begun = async () => {
		if (session !== '') return;
		await ask('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
		await ask('notifications/initialized', {}, true);
	};
	return {
		async listTools() {
			await begun();
			return await ask('tools/list', {});
		},
		async call(name, given) {
			await begun();
			return await ask('tools/call', { name, arguments: given });
		},
	};
}
