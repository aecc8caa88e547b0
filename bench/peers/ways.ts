/** What a node could hand to n8n's helpers in order to keep a connection. */
export const ways = [
	'httpRequest',
	'agentOptions.keepAlive',
	'agentOptions.maxSockets',
	'agent, httpAgent, httpsAgent',
	'httpVersion: 2',
	'header Connection: keep-alive',
	'request with forever, pool, agent (deprecated)',
] as const;

export type Way = (typeof ways)[number];
