import type http from 'node:http';
import type https from 'node:https';

interface Agents {
	httpAgent: http.Agent;
	httpsAgent: https.Agent;
}

/** n8n's `buildNodeAgents`. */
export type BuildAgents = (proxy: string | false, ssrf: object | 'disabled', options?: https.AgentOptions) => Agents;

/** Less than the time after which servers close an idle connection, so that no request meets a closing one. */
const idleMs = 1_000;
const maxAgents = 256;

/**
 * The change of n8n that bench/peers.md proposes: requests with the same agent options share an agent,
 * which keeps its connections alive for the next request.
 */
export function keepAgents(build: BuildAgents): BuildAgents {
	const pools = new Map<object | 'disabled', Map<string, Agents>>();
	return (proxy, ssrf, options = {}) => {
		const { servername, rejectUnauthorized, ...others } = options;
		// Client certificates and other settings of a node stay with their request.
		if (Object.keys(others).length > 0) return build(proxy, ssrf, options);
		const pool = pools.get(ssrf) ?? new Map<string, Agents>();
		pools.set(ssrf, pool);
		const key = JSON.stringify([proxy, servername, rejectUnauthorized]);
		const agents = pool.get(key) ?? build(proxy, ssrf, { ...options, keepAlive: true, timeout: idleMs });
		// The least recently used is dropped; its connections close when idle.
		pool.delete(key);
		pool.set(key, agents);
		if (pool.size > maxAgents) pool.delete(pool.keys().next().value!);
		return agents;
	};
}
