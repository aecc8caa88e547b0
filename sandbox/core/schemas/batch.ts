import { z } from 'zod/v4';
import { about } from './fields.ts';
import { exampleId } from './request-examples.ts';

/** The operations that a batch or a job can apply to many records. */
export const bulkOperations = ['create', 'update', 'upsert', 'delete'] as const;

export type BulkOperation = (typeof bulkOperations)[number];

export const maxBatchSize = 100;

/** The body of a batch. Items are validated one by one, so that an invalid item does not affect the others. */
export const batchSchema = z.strictObject({
	items: z.array(z.unknown()).min(1).max(maxBatchSize).meta(about('One entry per record, processed in this order.')),
	atomic: z.boolean().default(false).meta(about('Whether to write nothing if one of the items fails.', false)),
});

/** The members of an update or delete item that identify the record. */
export const targetSchema = z.object({
	id: z.string().min(1).max(64).meta(about('ID of the record.', exampleId('con'))),
	version: z.int().min(1).optional().meta(about('The expected version; if the record has a newer one, the item fails.', 3)),
});
