import { theWorld } from './access.ts';

/** A record, a list of them or a problem; the tests say what they expect of it. */
type ServiceBody = ServiceRecord & { data: ServiceRecord[]; total: number };

type ServiceRecord = Record<string, unknown> & { id: string };

/** What the service answered, past the node: the tests look here for what the node has done. */
export async function callSandbox(
	method: string,
	path: string,
	body?: object,
): Promise<{ status: number; body: ServiceBody }> {
	const { sandboxUrl, apiKey } = theWorld();
	const response = await fetch(sandboxUrl + path, {
		method,
		headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
		...(body ? { body: JSON.stringify(body) } : {}),
	});
	const text = await response.text();
	return { status: response.status, body: (text ? JSON.parse(text) : {}) as ServiceBody };
}

/** Creates a record for a test of its own. */
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

/** Starts a background job past the node. */
export async function postJob(query: string, lines: object[]): Promise<ServiceRecord> {
	const { sandboxUrl, apiKey } = theWorld();
	const response = await fetch(`${sandboxUrl}/v1/jobs?${query}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/x-ndjson' },
		body: lines.map((line) => JSON.stringify(line)).join('\n'),
	});
	if (response.status !== 202) throw new Error(`A job with ${query}: ${response.status} ${await response.text()}`);
	return (await response.json()) as ServiceRecord;
}
