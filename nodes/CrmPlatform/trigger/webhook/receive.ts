import { NodeOperationError, type IDataObject, type IWebhookFunctions, type IWebhookResponseData } from 'n8n-workflow';

import { connect } from '../../api/connection';
import { deliveredEvent, matchesEventPattern, type CrmEvent } from '../../log/crmEvent';
import { readBoolean } from '../../values/readers';
import { passesFilter } from '../eventFilter';
import { readEventChoice } from '../eventProperties';
import { causeOf, noOrigin } from '../../log/cause';
import { triggerKey } from '../storedState';
import { isTest, secretsOf } from './subscriptionState';
import { DeliveryMemory, type DeliveryResponse } from './deduplication';
import { eventOutput } from '../eventOutput';
import { RefusedDeliveries } from './refusedDeliveries';
import { doubtful, explainForged } from './signature';

let deliveries = new DeliveryMemory();
let refusals = new RefusedDeliveries();

/** Clears the memory of accepted and refused deliveries, as a restart would. */
export function forgetDeliveries(): void {
	deliveries = new DeliveryMemory();
	refusals = new RefusedDeliveries();
}

/** The event that the service sends to test a subscription. */
const testEvent = 'webhook.test';

/**
 * Receives one delivery: verifies its signature, and starts the workflow if it is an event the user chose that
 * has not been delivered before. Other deliveries are answered but start nothing.
 */
export async function receive(n8n: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { headers, rawBody: body = Buffer.alloc(0) } = requestOf(n8n);
	const forged = explainForged(
		{
			id: text(headers['webhook-id']),
			timestamp: text(headers['webhook-timestamp']),
			signature: text(headers['webhook-signature']),
			body,
		},
		secretsOf(n8n),
		Date.now(),
	);
	if (forged !== undefined) {
		n8n.logger.warn(`${n8n.getNode().name}: a delivery was refused: ${forged}`);
		if (isDoubtful(n8n, forged, body) && refusals.refuse(triggerKey(n8n), Date.now())) throw refused(n8n);
		return answer(n8n, 401, forged);
	}
	refusals.accept(triggerKey(n8n));
	const event = deliveredEvent(body);
	if (!event) return answer(n8n, 400, 'The body is not an event');

	const ignoredBecause = reasonToIgnore(n8n, event);
	if (ignoredBecause !== undefined) return answer(n8n, 200, ignoredBecause);
	// A test run ends with one event; the next test run may get the same one.
	if (!isTest(n8n)) {
		const deliveryState = deliveries.take(`${triggerKey(n8n)} ${event.id}`, responseOf(n8n));
		if (deliveryState === 'known') return answer(n8n, 200, 'This event has already started the workflow');
		if (deliveryState === 'under way') return answer(n8n, 503, 'This event is being processed');
	}
	return await start(n8n, event);
}

/** Whether a delivery may be genuine although its signature is wrong, because the trigger has the wrong secret: all else about it is right. */
function isDoubtful(n8n: IWebhookFunctions, forged: string, body: Buffer): boolean {
	if (isTest(n8n) || !Object.values(doubtful).includes(forged)) return false;
	const type = deliveredEvent(body)?.type;
	return type !== undefined && isChosen(n8n, type);
}

/** Throws, so that n8n lists a failed execution and answers 500: the service then sends the event again. */
const refused = (n8n: IWebhookFunctions): NodeOperationError =>
	new NodeOperationError(n8n.getNode(), 'Deliveries are refused because their signature does not match the secret of this trigger', {
		description:
			'If they are from the CRM, the secret of its webhook was replaced. Publish the workflow again: the trigger gets a new secret, and the refused events are delivered again. Otherwise, somebody else knows the webhook URL of this trigger, and you can ignore this.',
	});

/** Reason to ignore the event, if any. */
function reasonToIgnore(n8n: IWebhookFunctions, event: CrmEvent): string | undefined {
	if (event.type === testEvent) {
		const startsOnTests = readBoolean('Test Events', n8n.getNodeParameter('options.testEvents', false));
		return startsOnTests ? undefined : 'Test event received';
	}
	const { filter } = readEventChoice(n8n);
	if (!isChosen(n8n, event.type)) return 'This trigger does not listen to this event';
	if (!causeOf(event).isReported && filter.ignored?.keys.length) n8n.logger.warn(`${n8n.getNode().name}: ${noOrigin}`);
	return passesFilter(event, filter) ? undefined : 'This event does not pass the filters';
}

const isChosen = (n8n: IWebhookFunctions, type: string): boolean =>
	readEventChoice(n8n).events.some((pattern) => matchesEventPattern(pattern, type));

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

function answer(n8n: IWebhookFunctions, status: number, message: string): IWebhookResponseData {
	const headers = { 'content-type': 'application/json', ...(status === 503 && { 'retry-after': '5' }) };
	responseOf(n8n).writeHead(status, headers).end(JSON.stringify({ message }));
	return { noWebhookResponse: true };
}

/** Express's request and response; n8n does not export their types. */
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
