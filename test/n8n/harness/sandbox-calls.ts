import type { LoggedRequest } from '../../../sandbox/control/request-log.ts';
import { callService } from '../../sandbox/harness/call-service.ts';
import { theWorld } from './access.ts';

/** A record, a list of them or a problem. Each test says what it expects. */
type ServiceBody = ServiceRecord & { data: ServiceRecord[]; total: number };

type ServiceRecord = Record<string, unknown> & { id: string };

/** Calls the service directly, to see what the node has done. */
export async function callSandbox(
	method: string,
	path: string,
	body?: object,
): Promise<{ status: number; body: ServiceBody }> {
	const { sandboxUrl, apiKey } = theWorld();
	const reply = await callService(sandboxUrl, apiKey, method, path, body);
	return { status: reply.status, body: (reply.body ?? {}) as ServiceBody };
}

/** Requests that a sandbox with `faults` has received. */
export const requestsTo = async (sandboxUrl: string): Promise<LoggedRequest[]> =>
	(await (await fetch(`${sandboxUrl}/_sandbox/requests`)).json()) as LoggedRequest[];

/** Sets the faults of the service, and clears earlier ones. */
export const setFaults = async (...faults: object[]) => await callSandbox('PUT', '/_sandbox/faults', faults);

export const clearFaults = async () => await setFaults();

/** Creates a record in the service. */
export async function createRecord(path: string, values: object): Promise<ServiceRecord> {
	const { status, body } = await callSandbox('POST', path, values);
	if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`);
	return body;
}

/** The subscriptions of n8n's editor, which end after their first event. */
export async function testWebhooks(): Promise<ServiceRecord[]> {
	const { body } = await callSandbox('GET', '/v1/webhooks');
	return body.data.filter(({ url }) => String(url).includes('/webhook-test/'));
}

/** Starts a background job in the service. */
export async function postJob(query: string, lines: object[]): Promise<ServiceRecord> {
	const { sandboxUrl, apiKey } = theWorld();
	const response = await fetch(`${sandboxUrl}/v1/jobs?${query}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/x-ndjson' },
		body: lines.map((line) => JSON.stringify(line)).join('\n'),
	});
	if (response.status !== 202) throw new Error(`POST /v1/jobs?${query}: ${response.status} ${await response.text()}`);
	return (await response.json()) as ServiceRecord;
}
