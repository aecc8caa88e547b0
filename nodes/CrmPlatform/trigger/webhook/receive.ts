import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { connect } from '../../api/connection';
import { RecentMap } from '../../base/maps';
import { processMemory } from '../../base/processMemory';
import { deliveredEvent, matchesEventPattern, type CrmEvent } from '../../log/crmEvent';
import { eventIdentity } from '../../log/eventLog';
import { parseBoolean } from '../../values/parsers';
import { type EventChoice, failedFilter } from '../eventFilter';
import { readEventParameters } from '../eventProperties';
import { causeOf, noOrigin } from '../../log/cause';
import { triggerKey } from '../storedState';
import { acceptedStatus } from './backlog';
import { isTest, readSubscription } from './subscription';
import { eventOutput, withNamesOfLinks, needsConnection } from '../eventOutput';
import { explainForged } from './signature';

/** The part of Node.js's response that shows how a delivery was answered. */
export interface DeliveryResponse {
	readonly statusCode: number;
	readonly writableEnded: boolean;
	once(event: 'close', listener: () => void): unknown;
}

/** Maximum number of deliveries to remember: enough for a burst, in about 2 MB of memory. */
const capacity = 20_000;

/**
 * The latest answer for each event: its status, or the open connection until that has been sent. n8n does not store what a
 * webhook writes while it starts a workflow, so this is lost at a restart and unknown to other processes of n8n.
 */
const answers = processMemory(new RecentMap<string, Pick<DeliveryResponse, 'statusCode' | 'writableEnded'>>(capacity));

/**
 * Registers a delivery. A delivery that n8n answered with an error started nothing, so it counts as new.
 *
 * @param key a key of the event and of the trigger that it is for
 * @returns `under way` while the previous delivery of the event is still unanswered
 */
export function noteDelivery(key: string, answer: DeliveryResponse): 'new' | 'under way' | 'known' {
	const previous = answers.get(key);
	if (previous && !previous.writableEnded) return 'under way';
	if (previous && previous.statusCode < 400) return 'known';
	answers.set(key, answer);
	answer.once('close', () => {
		const { statusCode, writableEnded } = answer;
		// If the connection was closed before it was answered, the sender gave up, and n8n may still be starting the workflow.
		if (writableEnded && answers.get(key) === answer) answers.set(key, { statusCode, writableEnded });
	});
	return 'new';
}

/** Verifies a delivery, and starts the workflow if the user chose the event and it is new. Others are answered, but start nothing. */
export async function receive(n8n: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { headers, rawBody: body = Buffer.alloc(0) } = n8n.getRequestObject() as unknown as Request;
	const response = n8n.getResponseObject() as unknown as Response;
	const answer = (status: number, message: string): IWebhookResponseData => {
		const responseHeaders = { 'content-type': 'application/json', ...(status === 503 && { 'retry-after': '5' }) };
		response.writeHead(status, responseHeaders).end(JSON.stringify({ message }));
		return { noWebhookResponse: true };
	};
	const { secret, onlyIf } = readSubscription(n8n);
	const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
	const forged = explainForged({ id, timestamp, signature, body }, secret, Date.now());
	if (forged !== undefined) {
		n8n.logger.warn(`${n8n.getNode().name}: a delivery was refused: ${forged}`);
		return answer(401, forged);
	}
	const event = deliveredEvent(body);
	if (!event) return answer(400, 'The body is not an event');
	const { events, filter, output } = readEventParameters(n8n);
	const ignoredBecause = reasonToIgnore(n8n, event, { events, filter: { ...filter, onlyIf } });
	if (ignoredBecause !== undefined) return answer(acceptedStatus, ignoredBecause);
	// A test run ends with one event; the next test run may get the same one.
	if (!isTest(n8n)) {
		const deliveryState = noteDelivery(`${triggerKey(n8n)} ${eventIdentity(event)}`, response);
		if (deliveryState === 'known') return answer(acceptedStatus, 'This event has already started the workflow');
		if (deliveryState === 'under way') return answer(503, 'This event is being processed');
	}
	try {
		const api = needsConnection(output) ? await connect(n8n) : undefined;
		const item = await eventOutput(event, { ...output, onlyIf }, api);
		const items = api ? await withNamesOfLinks(api, [item], output.names) : [item];
		return { workflowData: [items.map((json) => ({ json }))] };
	} catch (error) {
		n8n.logger.error(`${n8n.getNode().name}: ${(error as Error).message}`);
		return answer(503, 'The record could not be read. Try again later');
	}
}

function reasonToIgnore(n8n: IWebhookFunctions, event: CrmEvent, { events, filter }: EventChoice): string | undefined {
	if (event.type === 'webhook.test') {
		const startsOnTests = parseBoolean('Test Events', n8n.getNodeParameter('options.testEvents', false));
		return startsOnTests ? undefined : 'Test event received';
	}
	if (!events.some((pattern) => matchesEventPattern(pattern, event.type))) return 'This trigger does not listen to this event';
	if (!causeOf(event).isRequestKnown && filter.ignored?.origins.length) n8n.logger.warn(`${n8n.getNode().name}: ${noOrigin}`);
	const failed = failedFilter(event, filter);
	return failed && `This event does not pass the filters: ${failed}`;
}

/** Express's request and response; n8n does not export their types. */
interface Request {
	headers: Record<string, string | undefined>;
	/** The exact bytes. */
	rawBody?: Buffer;
}

interface Response extends DeliveryResponse {
	writeHead(status: number, headers: Record<string, string>): this;
	end(body: string): unknown;
}
