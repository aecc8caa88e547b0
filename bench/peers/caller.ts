import { Agent } from 'node:https';
import type { IExecuteFunctions, INodeType } from 'n8n-workflow';
import { loadEngine } from './engine.ts';
import { type Route, routeAll } from './route.ts';
import { peers } from './subjects.ts';
import type { KeepAliveOption } from './keep-alive-options.ts';

/** A caller's only argument, as JSON. */
export interface CallerStart {
	n8n: string;
	ours: string;
	keepConnections: boolean;
}

/** Single requests, one after another. */
export interface Call {
	route: Route;
	option: KeepAliveOption;
	count: number;
}

export interface Called {
	/** Milliseconds of each request. */
	ms: number;
	error?: string;
}

const { n8n, ours, keepConnections } = JSON.parse(process.argv[2]!) as CallerStart;
const changeRoute = routeAll();
const engine = loadEngine(n8n, ours);
if (keepConnections) engine.keepConnections();
const peer = peers['CRM Platform'];
const keepAliveAgent = new Agent({ keepAlive: true });

const options: Record<KeepAliveOption, object> = {
	httpRequest: {},
	'agentOptions.keepAlive': { agentOptions: { keepAlive: true } },
	'agentOptions.maxSockets': { agentOptions: { keepAlive: true, maxSockets: 1, maxTotalSockets: 1 } },
	'agent, httpAgent, httpsAgent': { agent: keepAliveAgent, httpAgent: keepAliveAgent, httpsAgent: keepAliveAgent },
	'httpVersion: 2': { httpVersion: 2 },
	'header Connection: keep-alive': { headers: { Connection: 'keep-alive' } },
	'request with forever, pool, agent (deprecated)': { forever: true, pool: { maxSockets: 1 }, agent: keepAliveAgent },
};

process.on('message', ({ route, option, count }: Call) => {
	changeRoute(route);
	void called(option, count).then((result) => process.send!(result));
});
process.on('disconnect', () => process.exit());
process.send!('ready');

async function called(option: KeepAliveOption, count: number): Promise<Called> {
	let ms = 0;
	const type = {
		description: { properties: [], credentials: [], outputs: ['main'], inputs: ['main'] },
		async execute(this: IExecuteFunctions) {
			const url = 'https://api.crm.example/v1/contacts?limit=1';
			const start = performance.now();
			for (let i = 0; i < count; i++) {
				if (option.startsWith('request ')) {
					await this.helpers.request({ uri: url, json: true, ...options[option] });
				} else {
					await this.helpers.httpRequest({ url, json: true, ...options[option] });
				}
			}
			ms = (performance.now() - start) / count;
			return [[]];
		},
	} as unknown as INodeType;
	const { error } = await engine.use(type, peer).run('list', [{}]);
	return { ms, ...(error && { error: error.message }) };
}
