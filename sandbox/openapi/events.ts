import { eventFilters, eventSorts } from '../event-log/filters.ts';
import { customEventTypes, eventPatterns, eventTypes } from '../events/types.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { filterParameter } from './filter-parameters.ts';
import { namesOf } from '../schemas/names.ts';
import { commonErrors } from './operations.ts';
import { listParameter, queryParameter } from './parameter.ts';
import { idParameter, pageParameters } from './parameters.ts';
import { errors, success } from './responses.ts';
import { securityOf } from './oauth2.ts';
import { pageSchema } from './schemas.ts';

/** The paths of the log of events. */
export const eventPaths = () => ({
	'/v1/events': {
		get: {
			operationId: 'listEvents',
			tags: ['events'],
			summary: 'List events',
			description:
				'Lists what happened in the last 30 days, page by page: in sequence, the oldest first, ' +
				'unless sort says otherwise. To go on later, ' +
				'ask for sequence[gt] with the sequence of the last event you got. An access token gets ' +
				'the events of records that its user saw when they happened, of resources it may read.',
			parameters: [
				...pageParameters,
				queryParameter('sort', 'The order: in sequence, or with a minus sign the newest first.', {
					type: 'string',
					enum: eventSorts,
					default: eventSorts[0],
				}),
				listParameter('type', 'Only events of these types, or patterns such as contact.*.', {
					type: 'string',
					examples: ['contact.*'],
				}),
				...eventFilters.map(filterParameter),
			],
			responses: {
				200: {
					...success('A page of events.', 'EventList'),
					links: {
						next: {
							operationId: 'listEvents',
							parameters: { cursor: '$response.body#/next_cursor' },
						},
					},
				},
				...errors(400, ...commonErrors),
			},
			security: securityOf('events', 'read'),
		},
	},
	'/v1/events/{id}': {
		parameters: [{ ...idParameter, description: 'Id of the event.' }],
		get: {
			operationId: 'getEvent',
			tags: ['events'],
			summary: 'Get an event',
			parameters: [],
			responses: { 200: success('The event.', 'Event'), ...errors(400, 404, ...commonErrors) },
			security: securityOf('events', 'read'),
		},
	},
});

const types = [...eventTypes, ...customEventTypes];

/** What an event is, for each resource and for all; and what can be subscribed to. */
export function eventSchemas(): Record<string, JsonSchema> {
	const ofResources = [...new Set(types.map(({ resource }) => resource))].map((resource) => {
		const { One, one } = namesOf(resource);
		const own = eventTypes.filter((type) => type.resource === resource).map(({ type }) => type);
		const record = { $ref: `#/components/schemas/${One}` };
		return [
			`${One}Event`,
			eventSchema(`What has happened to a ${one}.`, record, own.length > 0 ? { enum: own } : {}),
		] as const;
	});
	return {
		Event: eventSchema('What has happened to a record.', {
			description: 'The record as it was then.',
			type: 'object',
		}),
		EventList: pageSchema('Event', 'events'),
		EventPattern: {
			description: 'A type of event, or a pattern for several.',
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
			description: 'Identifies the event; it comes again with every attempt to deliver it.',
			type: 'string',
		},
		type: { description: 'What has happened.', type: 'string', ...type },
		timestamp: { description: 'When it happened.', type: 'string', format: 'date-time' },
		api_version: { description: 'How data is written.', type: 'string' },
		account_id: { description: 'The account it happened in.', type: 'string' },
		sequence: {
			description: 'Counts the events of the account; a higher one happened later.',
			type: 'integer',
			minimum: 1,
		},
		actor: {
			description: 'Who did it: an api_key, a user or the system.',
			type: 'object',
			properties: { type: { type: 'string' }, id: { type: 'string' } },
			required: ['type', 'id'],
		},
		request: {
			description: 'The request that caused it; null if none did, as when time passes.',
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
			description: 'What it was about.',
			type: 'object',
			properties: {
				object: record,
				previous: {
					description: 'The fields that changed, as they were; null unless the record was changed.',
					type: ['object', 'null'],
				},
				changed: {
					description: 'Names of the fields that changed; custom_fields.<key> for custom fields.',
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
