import { z } from 'zod/v4';
import { customEventTypes, eventPatterns, eventTypes } from '../../domain/events/event-types.ts';
import { objectKeyPattern } from '../../core/schemas/custom-objects.ts';
import { describedText, pointInTime } from '../../core/schemas/fields.ts';
import { componentRef, type JsonSchema, jsonSchema } from '../../core/schemas/json-schema.ts';
import { namesOf } from '../../core/schemas/names.ts';
import { actorSchema, requestOriginSchema } from '../../core/schemas/origin.ts';
import { pageSchema } from './resource-schemas.ts';

/** The schemas of events, for each resource and in general, and of the patterns of subscriptions. */
export function eventSchemas(): Record<string, JsonSchema> {
	const ofResources = [...new Set([...eventTypes, ...customEventTypes].map(({ resource }) => resource))].map((resource) => {
		const { Singular, withArticle } = namesOf(resource);
		const typeNames = eventTypes.filter((type) => type.resource === resource).map(({ type }) => type);
		const type = typeNames.length > 0 ? z.enum(typeNames) : z.string();
		return [`${Singular}Event`, eventSchema(`An event of ${withArticle}.`, z.any().meta(componentRef(Singular)), type)];
	});
	return {
		Event: eventSchema('An event of a record.', z.object({}).meta({ description: 'The record after the event.' }), z.string()),
		EventList: pageSchema('Event', 'events'),
		EventPattern: {
			description: 'An event type, or a pattern that matches several.',
			anyOf: [
				{ type: 'string', enum: [...eventPatterns, ...eventTypes.map(({ type }) => type)] },
				{
					type: 'string',
					pattern: `^custom\\.${objectKeyPattern}\\.(created|updated|deleted|erased|\\*)$`,
					examples: ['custom.machines.created'],
				},
			],
		},
		...(Object.fromEntries(ofResources) as Record<string, JsonSchema>),
	};
}

const eventSchema = (description: string, record: z.ZodType, type: z.ZodType): JsonSchema => jsonSchema(z.object({
	id: describedText('Identifies the event; it is the same in every delivery attempt.'),
	type: type.meta({ description: 'The event type.' }),
	timestamp: pointInTime.meta({ description: 'Time of the event.' }),
	api_version: describedText('The API version of the data.'),
	account_id: describedText('The account of the event.'),
	sequence: z.int().min(1).meta({ description: 'The position in the event log; later events have higher numbers.' }),
	actor: actorSchema.meta({ description: 'Who caused the event: an API key, a user or the system.' }),
	request: requestOriginSchema.nullable().meta({ description: 'The request that caused the event; null for timed transitions.' }),
	data: z.object({
		object: record,
		previous: z.object({}).nullable().optional().meta({
			description: 'The earlier values of the changed fields; null unless the record was changed.',
		}),
		changed: z.array(z.string()).optional().meta({
			description: 'The names of the changed fields; custom_fields.<key> for custom fields.',
		}),
		erased: z.literal(true).optional().meta({
			description: 'Set if the record was permanently deleted, now or later: nothing but its id remains.',
		}),
	}).meta({ description: 'The record and its changes.' }),
}).meta({ description }), 'output');
