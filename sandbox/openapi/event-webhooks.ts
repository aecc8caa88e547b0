import { accountId } from '../foundation/account-id.ts';
import { customEventTypes, type EventType, eventTypes } from '../events/types.ts';
import { namesOf } from '../schemas/names.ts';
import { exampleValue } from './schemas.ts';

/** What the service sends to subscriptions, by type of event. */
export const eventWebhooks = (): Record<string, unknown> =>
	Object.fromEntries(
		[...eventTypes, ...customEventTypes].map((type) => [type.type, { post: delivery(type) }]),
	);

function delivery(event: EventType) {
	const { resource, type, description } = event;
	return {
		operationId: `on-${type.replaceAll(/\W+/g, '-')}`,
		tags: [resource.name],
		summary: description.replace(/\.$/, ''),
		description:
			`${description} Sent at least once, in no order, signed as Standard Webhooks 1.0.0 says. ` +
			'Answer within 15 seconds with a 2xx; anything else is tried again for days.',
		parameters: [
			header('webhook-id', 'The id of the event.', 'evt_01jz8q4t6v9x2b5n7m3k1h0d4f'),
			header('webhook-timestamp', 'When it was sent, in seconds since 1970.', '1772357400'),
			header(
				'webhook-signature',
				'v1,<base64 of the HMAC-SHA256 of id.timestamp.body>; two of them during a rotation.',
				'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
			),
		],
		requestBody: {
			required: true,
			content: {
				'application/json': {
					// With the schema, as read-only fields are no part of the example of a request.
					schema: {
						$ref: `#/components/schemas/${namesOf(resource).One}Event`,
						example: exampleOf(event),
					},
				},
			},
		},
		responses: {
			'2XX': { description: 'The event has arrived.' },
			410: { description: 'The receiver is gone. The subscription is disabled.' },
		},
		security: [],
	};
}

const header = (name: string, description: string, example: string) => ({
	name,
	in: 'header',
	description,
	required: true,
	schema: { type: 'string' },
	example,
});

function exampleOf({ type, resource }: EventType) {
	const { properties } = resource;
	const object = exampleValue({ properties });
	const [field, schema] = Object.entries(properties)[0]!;
	const isChange = !/\.(created|deleted|received|test)$/.test(type);
	return {
		id: 'evt_01jz8q4t6v9x2b5n7m3k1h0d4f',
		type: type.replace('{key}', 'machines'),
		timestamp: '2026-03-01T09:30:00.000Z',
		api_version: 'v1',
		account_id: accountId,
		sequence: 4711,
		actor: { type: 'user', id: 'usr_01jz8q4t6v9x2b5n7m3k1h0d4f' },
		request: {
			id: 'req_01jz8q4t6v9x2b5n7m3k1h0d4f',
			idempotency_key: '6f1c1b8e-8a43-4a3a-9b53-1d2f5f3c7d10',
		},
		data: {
			object,
			previous: isChange ? { [field]: exampleValue(schema) } : null,
			changed: isChange ? [field] : [],
		},
	};
}
