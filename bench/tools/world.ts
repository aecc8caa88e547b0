import { type RealN8n, startRealN8n } from '../real-n8n.ts';
import { startSandbox } from '../sandbox-server.ts';
import type { ToolFaults } from './policies.ts';
import type { Crm, CrmRecord } from './task.ts';

/** A write of the service: the events of one request. */
export interface ServiceWrite {
	types: string[];
	ids: string[];
}

/** The sandbox, seen from outside, and a real n8n. */
export interface ToolsWorld {
	n8n: RealN8n;
	url: string;
	crm: Crm & ToolFaults;
	/** The writes since the last call. */
	writes(): Promise<ServiceWrite[]>;
	stop(): Promise<void>;
}

export async function startToolsWorld(): Promise<ToolsWorld> {
	const server = await startSandbox(200, '--faults');
	const n8n = await startRealN8n();
	const call = async (method: string, path: string, body?: unknown): Promise<CrmRecord> => {
		const text = await server.call(method, path, body === undefined ? undefined : JSON.stringify(body));
		return (text === '' ? {} : JSON.parse(text)) as CrmRecord;
	};
	const crm: ToolsWorld['crm'] = {
		post: async (path, body) => await call('POST', path, body),
		get: async (path) => await call('GET', path),
		loseNextAnswer: async () => void (await call('PUT', '/_sandbox/faults', ['POST', 'PATCH', 'PUT', 'DELETE'].map((method) => ({ path: '/v1', method, drop: 'after', times: 1 })))),
		heal: async () => void (await call('PUT', '/_sandbox/faults', [])),
	};
	const stop = async () => {
		await n8n.stop();
		await server.stop();
	};
	return { n8n, url: server.url, crm, writes: writesOf(crm), stop };
}

interface LoggedEvent {
	id: string;
	sequence: number;
	type: string;
	request: { id: string } | null;
	data: { object: { id: string } };
}

function writesOf(crm: Crm): () => Promise<ServiceWrite[]> {
	let last = 0;
	return async () => {
		const found = new Map<string, ServiceWrite>();
		for (;;) {
			const { data } = (await crm.get(`/v1/events?limit=500&sequence[gt]=${last}`)) as unknown as { data: LoggedEvent[] };
			for (const { id, type, sequence, request, data: { object } } of data) {
				last = Math.max(last, sequence);
				const name = request?.id ?? id;
				const write = found.get(name) ?? { types: [], ids: [] };
				write.types.push(type);
				write.ids.push(object.id);
				found.set(name, write);
			}
			if (data.length === 0) return [...found.values()];
		}
	};
}
