import { z } from 'zod/v4';
import { instant, pointInTime, reference, references, text } from './fields.ts';
import { type Actor, actorSchema } from './origin.ts';
import { exampleId } from './request-examples.ts';

const id = z.string().max(64).meta({
	title: 'ID',
	description: 'Identifies the record; treat it as opaque.',
	examples: [exampleId('con')],
	readOnly: true,
});

const actorField = (title: string, description: string) =>
	actorSchema.meta({ title, description, examples: [{ type: 'api_key', id: exampleId('key') }], readOnly: true });

/** The fields that the service sets on every record of every resource. */
export const systemFields = (object: string) => ({
	id,
	object: z.literal(object).meta({ title: 'Object', description: 'Type of the object.', readOnly: true }),
	version: z.int().min(1).meta({
		title: 'Version',
		description: 'Increases with every change; the ETag begins with it.',
		examples: [1],
		readOnly: true,
	}),
	created_at: pointInTime.meta({
		title: 'Created At',
		description: 'Time of creation.',
		examples: ['2025-03-01T09:30:00.000Z'],
		readOnly: true,
	}),
	updated_at: pointInTime.meta({
		title: 'Updated At',
		description: 'Time of the last change.',
		examples: ['2025-03-01T09:30:00.000Z'],
		readOnly: true,
	}),
	deleted_at: instant({ title: 'Deleted At', description: 'Time of deletion; null if the record is not deleted.', readOnly: true }),
	created_by: actorField('Created By', 'Who created the record.'),
	updated_by: actorField('Updated By', 'Who last changed the record.'),
});

const customValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);

/** The fields that clients can set on every record of the business resources. */
export const sharedFields = {
	external_id: text({ title: 'External ID', description: 'The id of this record in your own system; unique.', examples: ['crm-4711'] }),
	owner_id: reference('users', { title: 'Owner', description: 'The user responsible for the record.', examples: [exampleId('usr')] }),
	tag_ids: references('tags', { title: 'Tags', description: 'The ids of the tags on this record.', examples: [[exampleId('tag')]] }),
	// Not `z.record`, which refuses the key `constructor`.
	custom_fields: z.object({}).catchall(customValue).default({}).meta({
		title: 'Custom Fields',
		description: 'Values of the custom fields defined for this resource, by key.',
	}),
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
export const applicationId = z.string().nullable().meta({
	title: 'Application ID',
	description: 'The OAuth client that created and owns it; null if an API key created it.',
	examples: [exampleId('cli')],
	readOnly: true,
});
