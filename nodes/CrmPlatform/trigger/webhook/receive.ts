import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { connect } from '../../api/connection';
import { parseEvent, type CrmEvent } from '../../api/event';
import { parseJson } from '../../api/http/json';
import { passesFilter } from '../eventFilter';
import { readEventChoice } from '../eventProperties';
import { recoveredSubscriptions, alreadyDelivered, recoveryStart, recoverEvents, recoverHours } from './backlog';
import { isTest, readState, type SubscriptionState } from './staticData';
import { DeliveryMemory, type DeliveryResponse } from './deduplication';
import { eventOutput } from '../output';
import { explainForged } from './signature';

const deliveries = new DeliveryMemory();

/** What the service sends to try a subscription out. */
const testEvent = 'webhook.test';

/**
 * Takes in one delivery: checks that it is genuine, and starts the workflow with it if it is a new
 * event that the user wants. Nothing else starts it: the sender gets an answer, and that is all.
 */
export async function receive(n8n: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { headers, rawBody: body = Buffer.alloc(0) } = requestOf(n8n);
	const kept = readState(n8n);
	const forged = explainForged(
		{
			id: text(headers['webhook-id']),
			timestamp: text(headers['webhook-timestamp']),
			signature: text(headers['webhook-signature']),
			body,
		},
		kept.secret,
		Date.now(),
	);
	if (forged !== undefined) {
		n8n.logger.warn(`${n8n.getNode().name}: a delivery was refused: ${forged}`);
		return answer(n8n, 401, forged);
	}
	const event = parseEvent(parseJson(body.toString('utf8')));
	if (!event) return answer(n8n, 400, 'The body is not an event');

	askOnce(n8n, kept);
	const unwanted = explainUnwanted(n8n, event, kept);
	if (unwanted !== undefined) return answer(n8n, 200, unwanted);
	// A test run takes one event and ends; the same one may be wanted in the next.
	if (!isTest(n8n)) {
		const taken = deliveries.take(`${kept.workflow}:${n8n.getNode().id}:${event.id}`, responseOf(n8n));
		if (taken === 'known') return answer(n8n, 200, 'This event has started the workflow before');
		if (taken === 'under way') return answer(n8n, 503, 'This event is being taken in right now');
	}
	return await start(n8n, event);
}

/** Why an event is none that starts the workflow; undefined if it is one. */
function explainUnwanted(n8n: IWebhookFunctions, event: CrmEvent, kept: SubscriptionState): string | undefined {
	if (event.type === testEvent) {
		const isWanted = n8n.getNodeParameter('options.testEvents', false) as boolean;
		return isWanted ? undefined : 'The test has arrived';
	}
	const { events, filter } = readEventChoice(n8n);
	if (!events.some((pattern) => covers(pattern, event.type))) return 'This event is not asked for';
	if (alreadyDelivered(event, kept.gap)) return 'This event has arrived before';
	return passesFilter(event, filter) ? undefined : 'This event does not pass the filters';
}

const covers = (pattern: string, type: string): boolean =>
	pattern === type || (pattern.endsWith('*') && type.startsWith(pattern.slice(0, -1)));

async function start(n8n: IWebhookFunctions, event: CrmEvent): Promise<IWebhookResponseData> {
	const { output } = readEventChoice(n8n);
	let json: IDataObject;
	try {
		json = await eventOutput(event, output, async () => await connect(n8n));
	} catch (error) {
		n8n.logger.error(`${n8n.getNode().name}: ${(error as Error).message}`);
		return answer(n8n, 503, 'The record could not be read. Try again later');
	}
	return { workflowData: [[{ json }]] };
}

/**
 * After a start of n8n, which by itself tells a trigger nothing of it: the first delivery brings up
 * what failed meanwhile, which the service would try again hours later.
 */
function askOnce(n8n: IWebhookFunctions, { id, since }: SubscriptionState): void {
	const hours = recoverHours(n8n);
	if (id === undefined || since === undefined || hours === undefined || recoveredSubscriptions.has(id)) return;
	recoveredSubscriptions.add(id);
	// Not waited for: the sender of this delivery wants its answer within 15 seconds.
	void connect(n8n)
		.then(async (api) => await recoverEvents(api, id, recoveryStart(since, hours, Date.now())))
		.catch((error: Error) => {
			recoveredSubscriptions.delete(id);
			n8n.logger.warn(`${n8n.getNode().name}: missed events could not be recovered: ${error.message}`);
		});
}

function answer(n8n: IWebhookFunctions, status: number, message: string): IWebhookResponseData {
	const headers = { 'content-type': 'application/json', ...(status === 503 && { 'retry-after': '5' }) };
	responseOf(n8n).writeHead(status, headers).end(JSON.stringify({ message }));
	return { noWebhookResponse: true };
}

/** Of Express, whose types n8n does not bring along. */
interface Request {
	headers: Record<string, string | string[] | undefined>;
	/** The exact bytes. */
	rawBody?: Buffer;
}

interface Response extends DeliveryResponse {
	writeHead(status: number, headers: Record<string, string>): this;
	end(body: string): unknown;
}

const requestOf = (n8n: IWebhookFunctions) => n8n.getRequestObject() as unknown as Request;
const responseOf = (n8n: IWebhookFunctions) => n8n.getResponseObject() as unknown as Response;

const text = (header: string | string[] | undefined): string | undefined =>
	Array.isArray(header) ? header[0] : header;
