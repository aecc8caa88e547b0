import { NodeOperationError, type IDataObject, type IWebhookFunctions, type IWebhookResponseData } from 'n8n-workflow';

import { connect } from '../../api/connection';
import { RecentMap } from '../../base/maps';
import { deliveredEvent, matchesEventPattern, type CrmEvent } from '../../log/crmEvent';
import { readBoolean } from '../../values/readers';
import { passesFilter } from '../eventFilter';
import { readEventChoice } from '../eventProperties';
import { causeOf, noOrigin } from '../../log/cause';
import { triggerKey } from '../storedState';
import { isTest, readSubscription, secretsOf } from './subscriptionState';
import { DeliveryMemory, type DeliveryResponse } from './deduplication';
import { eventOutput } from '../eventOutput';
import { findSubscription } from './subscription';
import { explainForged, tolerance, untimely } from './signature';

let deliveries = new DeliveryMemory();
/** Triggers that refuse deliveries because of a wrong clock, as the user knows. */
const wrongClocks = new RecentMap<string, true>(10_000);

/** Clears the memory of accepted deliveries, as a restart would. */
export function forgetDeliveries(): void {
	deliveries = new DeliveryMemory();
	wrongClocks.clear();
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
		if (!isTest(n8n) && Object.values(untimely).includes(forged)) await refuseWrongClock(n8n);
		return answer(n8n, 401, forged);
	}
	wrongClocks.delete(triggerKey(n8n));
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

/** @throws NodeOperationError, once, so that n8n lists a failed execution; the service sends the event again */
async function refuseWrongClock(n8n: IWebhookFunctions): Promise<void> {
	const { id } = readSubscription(n8n);
	if (id === undefined || wrongClocks.get(triggerKey(n8n))) return;
	const found = await connect(n8n).then(async (api) => await findSubscription(api, id)).catch(() => undefined);
	const ahead = found ? (Date.now() - found.now) / 1_000 : 0;
	if (Math.abs(ahead) <= tolerance) return;
	wrongClocks.set(triggerKey(n8n), true);
	const difference = `${Math.round(Math.abs(ahead) / 60)} minutes ${ahead > 0 ? 'ahead of' : 'behind'}`;
	throw new NodeOperationError(n8n.getNode(), `The clock of n8n is ${difference} the CRM’s, so every delivery is refused`, {
		description: 'Deliveries may be at most five minutes old. Correct the clock that is wrong: the refused events are then delivered again.',
	});
}

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
