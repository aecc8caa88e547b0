import {
	idempotencyKeyParameter,
	queryParameter,
	requiredQueryParameter,
} from '../description/parameters.ts';
import { commonHeaders, errors, success, writeErrors } from '../description/responses.ts';
import type { Operation } from '../http/operation.ts';
import { resources } from '../schemas/index.ts';
import { customRecords, jobLimits, jobOperations, jobs } from '../schemas/jobs.ts';

const ndjson = 'application/x-ndjson';

const jobLink = (operationId: string) => ({
	operationId,
	parameters: { id: '$response.body#/id' },
});

export const createJobOperation = (): Operation => ({
	operationId: 'createJob',
	tags: [jobs.name],
	summary: 'Start a job',
	description:
		'Processes many records in the background. Send one JSON object per line, like an item of ' +
		'the batch of the same operation: at most 100,000 lines or 50 MB, and 1 MiB per line, as ' +
		'`x-limits` has it. ' +
		'An export takes no body: its results are the records that a list with its query would ' +
		'return. Records whose sort fields change during an export can be missed or repeated; ' +
		'created_at, the default order, never changes. Five jobs run at a time; others are queued. ' +
		'Each line is processed exactly once, even if the service restarts. An access token also ' +
		'needs the scope of the records: write, or read for an export.',
	'x-limits': jobLimits,
	parameters: [
		requiredQueryParameter('resource', 'The resource of the records.', {
			anyOf: [
				{ type: 'string', enum: resources.map(({ name }) => name) },
				{
					type: 'string',
					pattern: `^${customRecords}$`,
					examples: ['custom-objects/machines/records'],
				},
			],
		}),
		requiredQueryParameter('operation', 'The operation to apply to each line, or export.', {
			type: 'string',
			enum: [...jobOperations],
		}),
		queryParameter('match_on', 'For upsert: the unique field to match records on.', { type: 'string' }),
		{
			...queryParameter(
				'query',
				'For export: parameters of the list of these records, such as filters, sort and fields, ' +
					'each as a separate query parameter; except cursor, limit, and filters with the names of ' +
					'the parameters above.',
				{ type: 'object', additionalProperties: { type: 'string' } },
			),
			style: 'form',
			explode: true,
		},
		idempotencyKeyParameter,
	],
	requestBody: {
		content: {
			[ndjson]: {
				schema: { type: 'string', description: 'One JSON object per line.' },
				example: '{"email":"ana@x.example"}\n{"email":"eva@x.example"}\n',
			},
		},
	},
	responses: {
		202: {
			...success('The job, queued.', 'Job', 'ETag', 'Location', 'Idempotent-Replayed'),
			links: {
				job: jobLink('getJob'),
				results: jobLink('getJobResults'),
				cancel: jobLink('cancelJob'),
			},
		},
		...errors(...writeErrors),
	},
});

export const cancelJobOperation = (): Operation => ({
	operationId: 'cancelJob',
	tags: [jobs.name],
	summary: 'Cancel a job',
	description: 'Cancels a job that is queued or processing. Lines that were processed stay processed.',
	parameters: [idempotencyKeyParameter],
	responses: {
		200: success('The job, canceled.', 'Job', 'ETag', 'Idempotent-Replayed'),
		...errors(400, 404, 409, 422),
	},
});

export const jobResultsOperation = (): Operation => ({
	operationId: 'getJobResults',
	tags: [jobs.name],
	summary: 'Get the results of a job',
	description:
		'Returns one JSON object per line: the result that a batch has for the item, where index is ' +
		'the line, from 0; for an export, the record. The order never changes, so a client whose ' +
		'connection broke continues with offset. Results are kept for seven days after the end of ' +
		'the job. An access token needs the scope that starting the job needs; without the scope to ' +
		'read the records, results hold only their ids and versions.',
	parameters: [
		queryParameter('offset', 'The number of results to skip, because they have arrived already.', {
			type: 'integer',
			minimum: 0,
			default: 0,
		}),
		queryParameter('limit', 'Maximum number of results; by default all.', {
			type: 'integer',
			minimum: 1,
		}),
		queryParameter(
			'records',
			'Whether results hold the records that were written, or only their ids and versions. An ' +
				'export always holds its records.',
			{ type: 'boolean', default: true },
		),
	],
	responses: {
		200: {
			description: 'The results, line by line.',
			headers: commonHeaders,
			content: {
				[ndjson]: { schema: { type: 'string', description: 'One JSON object per line.' } },
			},
		},
		...errors(400, 404, 409, 410),
	},
});
