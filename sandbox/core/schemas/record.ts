import { z } from 'zod/v4';
import { about, instant, pointInTime, readOnly, reference, references, text } from './fields.ts';
import { type Actor, actorSchema } from './origin.ts';
import { exampleId } from './request-examples.ts';

const id = z.string().max(64).meta(readOnly('Identifies the record; treat it as opaque.', exampleId('con')));

const actorField = (description: string) => actorSchema.meta(readOnly(description, { type: 'api_key', id: exampleId('key') }));

/** The fields that the service sets on every record of every resource. */
export const systemFields = (object: string) => ({
	id,
	object: z.literal(object).meta(readOnly('Type of the object.')),
	version: z.int().min(1).meta(readOnly('Increases with every change; it is the ETag.', 1)),
	created_at: pointInTime.meta(readOnly('Time of creation.', '2025-03-01T09:30:00.000Z')),
	updated_at: pointInTime.meta(readOnly('Time of the last change.', '2025-03-01T09:30:00.000Z')),
	deleted_at: instant(readOnly('Time of deletion; null if the record is not deleted.')),
	created_by: actorField('Who created the record.'),
	updated_by: actorField('Who last changed the record.'),
});

const customValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);

/** The fields that clients can set on every record of the business resources. */
export const sharedFields = {
	external_id: text(about('The id of this record in your own system; unique.', 'crm-4711', { title: 'External ID' })),
	owner_id: reference('users', about('The user responsible for the record.', exampleId('usr'))),
	tag_ids: references('tags', about('The ids of the tags on this record.', [exampleId('tag')])),
	// Not `z.record`, which refuses the key `constructor`.
	custom_fields: z.object({}).catchall(customValue).default({})
		.meta(about('Values of the custom fields defined for this resource, by key.')),
};

/** The system fields of a new record. */
export const firstVersion = (actor: Actor, at: string) => ({
	version: 1,
	created_at: at,
	updated_at: at,
	deleted_at: null,
	created_by: actor,
	updated_by: actor,
});

/** The field of resources whose records are visible only to the application that created them. */
export const applicationId = z.string().nullable().meta(
	readOnly('The OAuth client that created and owns it; null if an API key created it.', exampleId('cli'), { title: 'Application ID' }),
);
