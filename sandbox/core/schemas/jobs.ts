import { z } from 'zod/v4';
import { bulkOperations } from './batch.ts';
import { recordsPattern } from './custom-objects.ts';
import { instant, readOnly, text } from './fields.ts';
import { resources } from './index.ts';
import { applicationId, systemFields } from './record.ts';
import { requestOriginSchema } from './origin.ts';
import { exampleId } from './request-examples.ts';
import { defineResource, entersStatus, type RecordOf } from './resource.ts';

export const jobOperations = [...bulkOperations, 'export'] as const;

/** The limits of a job's input. */
export const jobLimits = { lines: 100_000, bytes: 50_000_000, line_bytes: 1_048_576 };

const jobStatuses = ['queued', 'processing', 'completed', 'failed', 'canceled'] as const;

const count = (description: string) => z.int().min(0).default(0).meta(readOnly(description, 0));

const fields = {
	resource: z.string()
		.regex(new RegExp(`^(${resources.map(({ name }) => name).join('|')}|${recordsPattern})$`))
		.meta(readOnly('The resource of the records.', 'contacts')),
	operation: z.enum(jobOperations).meta(readOnly('The operation applied to each line; export reads records instead.')),
	match_on: text(readOnly('For upsert: the unique field to match on.')),
	status: z.enum(jobStatuses).meta(readOnly('Status of the job.')),
	total: count('Number of lines, or of records to export.'),
	processed: count('Number of lines or records processed so far.'),
	succeeded: count('Number of lines that succeeded.'),
	failed: count('Number of lines that were refused; the results have the reasons.'),
	error: text(readOnly('Reason the whole job failed, or was canceled by the service: the key, the ' +
				'application’s access or the user’s permission was revoked.'), 1000),
	request: requestOriginSchema.meta(
		readOnly('The request that started the job, also named by the events of the job.', { id: exampleId('req'), idempotency_key: null }),
	),
	started_at: instant(readOnly('Time processing began.')),
	finished_at: instant(readOnly('Time the job ended, whatever its outcome.')),
	results_expire_at: instant(readOnly('Time until which the results are kept.')),
	application_id: applicationId,
	...systemFields('job'),
};

export const jobs = defineResource({
	name: 'jobs',
	object: 'job',
	idPrefix: 'job',
	description: 'Bulk work in the background: imports and exports of many records.',
	visibility: 'application',
	fields,
	important: ['resource', 'operation', 'status', 'total', 'processed', 'failed', 'finished_at'],
	unique: {},
	sortable: ['finished_at'],
	searched: ['resource', 'operation'],
	lookups: ['status'],

	events: { completed: entersStatus('completed', 'A job was completed. Its results have the outcome of each line.') },
});

export type JobStatus = (typeof jobStatuses)[number];

export type Job = RecordOf<typeof fields>;
