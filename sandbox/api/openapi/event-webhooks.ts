import { accountId } from '../../core/schemas/account.ts';
import { customEventTypes, type EventType, eventTypes } from '../../domain/events/event-types.ts';
import { componentRef } from '../../core/schemas/json-schema.ts';
import { namesOf } from '../../core/schemas/names.ts';
import { exampleValue } from '../endpoint/input-schema.ts';
import { exampleId } from '../../core/schemas/request-examples.ts';

/** The webhooks of the document, by type of event. */
export const eventWebhooks = (): Record<string, unknown> =>
	Object.fromEntries([...eventTypes, ...customEventTypes].map((type) => [type.type, { post: deliveryOperation(type) }]));

function deliveryOperation(event: EventType) {
	const { resource, type, description } = event;
	return {
		operationId: `on-${type.replaceAll(/\W+/g, '-')}`,
		tags: [resource.name],
		summary: description.replace(/\.$/, ''),
		description:
			`${description} Delivered at least once, in no particular order, and signed according to ` +
			'Standard Webhooks 1.0.0. Respond with a 2xx within 15 seconds; otherwise the delivery is ' +
			'retried for days.',
		parameters: [
			headerParameter('webhook-id', 'The id of the event.', exampleId('evt')),
			headerParameter('webhook-timestamp', 'The time of the attempt in seconds since 1970.', '1772357400'),
			headerParameter(
				'webhook-signature',
				'v1,<base64 of the HMAC-SHA256 of id.timestamp.body>; two of them during a rotation.',
				'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
			),
		],
		requestBody: {
			required: true,
			content: {
				'application/json': {
					// The example is beside the schema, because the documentation omits read-only fields from the
					// example of a request.
					schema: {
						...componentRef(`${namesOf(resource).Singular}Event`),
						example: exampleEvent(event),
					},
				},
			},
		},
		responses: {
			'2XX': { description: 'The event was received.' },
			410: { description: 'The receiver is gone; the subscription is disabled.' },
		},
		security: [],
	};
}

const headerParameter = (name: string, description: string, example: string) => ({
	name,
	in: 'header',
	description,
	required: true,
	schema: { type: 'string' },
	example,
});

function exampleEvent({ type, resource }: EventType) {
	const { properties } = resource;
	const object = exampleValue({ properties });
	const [field, schema] = Object.entries(properties)[0]!;
	const isChange = !/\.(created|deleted|erased|received|test)$/.test(type);
	return {
		id: exampleId('evt'),
		type: type.replace('{key}', 'machines'),
		timestamp: '2026-03-01T09:30:00.000Z',
		api_version: 'v1',
		account_id: accountId,
		sequence: 4711,
		actor: { type: 'user', id: exampleId('usr') },
		request: { id: exampleId('req'), idempotency_key: '6f1c1b8e-8a43-4a3a-9b53-1d2f5f3c7d10' },
		data: { object, previous: isChange ? { [field]: exampleValue(schema) } : null, changed: isChange ? [field] : [] },
	};
}
