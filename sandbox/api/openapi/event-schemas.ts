import { customEventTypes, eventPatterns, eventTypes } from '../../domain/events/event-types.ts';
import type { JsonSchema } from '../../core/schemas/json-schema.ts';
import { namesOf } from '../../core/schemas/names.ts';
import { pageSchema } from './resource-schemas.ts';

const types = [...eventTypes, ...customEventTypes];

/** The schemas of events, for each resource and in general, and of the patterns of subscriptions. */
export function eventSchemas(): Record<string, JsonSchema> {
	const ofResources = [...new Set(types.map(({ resource }) => resource))].map((resource) => {
		const { Singular, withArticle } = namesOf(resource);
		const typeNames = eventTypes.filter((type) => type.resource === resource).map(({ type }) => type);
		const record = { $ref: `#/components/schemas/${Singular}` };
		return [
			`${Singular}Event`,
			eventSchema(`An event of ${withArticle}.`, record, typeNames.length > 0 ? { enum: typeNames } : {}),
		] as const;
	});
	return {
		Event: eventSchema('An event of a record.', {
			description: 'The record after the event.',
			type: 'object',
		}),
		EventList: pageSchema('Event', 'events'),
		EventPattern: {
			description: 'An event type, or a pattern that matches several.',
			anyOf: [
				{
					type: 'string',
					enum: [...eventPatterns, ...eventTypes.map(({ type }) => type)],
				},
				{
					type: 'string',
					pattern: '^custom\\.[a-z][a-z0-9_]{0,39}\\.(created|updated|deleted|\\*)$',
					examples: ['custom.machines.created'],
				},
			],
		},
		...Object.fromEntries(ofResources),
	};
}

const eventSchema = (description: string, record: JsonSchema, type: JsonSchema = {}): JsonSchema => ({
	description,
	type: 'object',
	properties: {
		id: {
			description: 'Identifies the event; it is the same in every delivery attempt.',
			type: 'string',
		},
		type: { description: 'The event type.', type: 'string', ...type },
		timestamp: { description: 'Time of the event.', type: 'string', format: 'date-time' },
		api_version: { description: 'The API version of the data.', type: 'string' },
		account_id: { description: 'The account of the event.', type: 'string' },
		sequence: {
			description: 'The position in the event log; later events have higher numbers.',
			type: 'integer',
			minimum: 1,
		},
		actor: {
			description: 'The cause of the event: an api_key, a user or the system.',
			type: 'object',
			properties: { type: { type: 'string' }, id: { type: 'string' } },
			required: ['type', 'id'],
		},
		request: {
			description: 'The request that caused the event; null for timed transitions.',
			type: ['object', 'null'],
			properties: {
				id: { description: 'Its X-Request-Id.', type: 'string' },
				idempotency_key: {
					description: 'Its Idempotency-Key, if it had one.',
					type: ['string', 'null'],
				},
			},
			required: ['id', 'idempotency_key'],
		},
		data: {
			description: 'The record and its changes.',
			type: 'object',
			properties: {
				object: record,
				previous: {
					description: 'The earlier values of the changed fields; null unless the record was changed.',
					type: ['object', 'null'],
				},
				changed: {
					description: 'The names of the changed fields; custom_fields.<key> for custom fields.',
					type: 'array',
					items: { type: 'string' },
				},
			},
			required: ['object', 'previous', 'changed'],
		},
	},
	required: [
		'id',
		'type',
		'timestamp',
		'api_version',
		'account_id',
		'sequence',
		'actor',
		'request',
		'data',
	],
});
