/** Options that a node could pass to n8n's helpers to keep a connection alive. */
export const keepAliveOptions = [
	'httpRequest',
	'agentOptions.keepAlive',
	'agentOptions.maxSockets',
	'agent, httpAgent, httpsAgent',
	'httpVersion: 2',
	'header Connection: keep-alive',
	'request with forever, pool, agent (deprecated)',
] as const;

export type KeepAliveOption = (typeof keepAliveOptions)[number];
