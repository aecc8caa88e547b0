import { resources } from '../schemas/index.ts';
import { customRecords, jobOperations, jobs } from '../schemas/jobs.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { securityOf } from './oauth2.ts';
import { always, get, list, onWrites } from './operations.ts';
import { query } from './parameter.ts';
import { idempotencyKeyParameter, idParameter } from './parameters.ts';
import { commonHeaders, errors, success } from './responses.ts';
import { resourceSchemas } from './schemas.ts';

const ndjson = 'application/x-ndjson';

/** The paths of background jobs. */
export const jobPaths = () => ({
	'/v1/jobs': {
		get: list(jobs),
		post: {
			operationId: 'createJob',
			tags: [jobs.name],
			summary: 'Start a job',
			description:
				'Works on many records in the background. Send one JSON object per line, as an item of ' +
				'the batch of the same operation; at most 100,000 lines or 50 MB, and 1 MiB per line. ' +
				'An export takes no body: its results are the records that a list with its query would ' +
				'give. Records whose sort fields change during an export can be missed or come twice; ' +
				'created_at, the default order, never changes. Five jobs run at a time; others wait. Each line is done once, even if the service is restarted meanwhile. An access token ' +
				'needs the scope of the records as well: write, or read for an export.',
			parameters: [
				{
					...query('resource', 'The resource whose records it is about.', {
						anyOf: [
							{ type: 'string', enum: resources.map(({ name }) => name) },
							{
								type: 'string',
								pattern: `^${customRecords}$`,
								examples: ['custom-objects/machines/records'],
							},
						],
					}),
					required: true,
				},
				{
					...query('operation', 'What to do with each line, or export.', {
						type: 'string',
						enum: [...jobOperations],
					}),
					required: true,
				},
				query('match_on', 'For upsert: the unique field to find records by.', { type: 'string' }),
				{
					...query(
						'query',
						'For export: what the list of these records takes, such as filters, sort and fields, ' +
							'each as a parameter of its own; all but cursor, limit, and filters called like the ' +
							'parameters above.',
						{ type: 'object', additionalProperties: { type: 'string' } },
					),
					style: 'form' as const,
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
						job: linkTo('getJob'),
						results: linkTo('getJobResults'),
						cancel: linkTo('cancelJob'),
					},
				},
				...errors(...onWrites),
			},
			security: securityOf(jobs.name, 'write'),
		},
	},
	'/v1/jobs/{id}': {
		parameters: [idParameter],
		get: { ...get(jobs), security: securityOf(jobs.name, 'read') },
	},
	'/v1/jobs/{id}/cancel': {
		parameters: [idParameter],
		post: {
			operationId: 'cancelJob',
			tags: [jobs.name],
			summary: 'Cancel a job',
			description: 'Ends a job that is queued or processing. What is done stays done.',
			parameters: [idempotencyKeyParameter],
			responses: {
				200: success('The job, canceled.', 'Job', 'ETag', 'Idempotent-Replayed'),
				...errors(400, 404, 409, 422, ...always),
			},
			security: securityOf(jobs.name, 'write'),
		},
	},
	'/v1/jobs/{id}/results': {
		parameters: [idParameter],
		get: {
			operationId: 'getJobResults',
			tags: [jobs.name],
			summary: 'Get the results of a job',
			description:
				'One JSON object per line: what a batch answers for the item, where index is the line, ' +
				'from 0; of an export, the record. As many as the job has processed, always in the same order, so ' +
				'that a client whose connection broke goes on with offset. There for seven days from the end of the job. ' +
				'An access token needs the scope that starting the job needs; without the one to read the ' +
				'records, results have their ids and versions only.',
			parameters: [
				query('offset', 'How many results to leave out: those that have arrived already.', {
					type: 'integer',
					minimum: 0,
					default: 0,
				}),
				query('limit', 'How many results to answer with at most; all that are left without it.', {
					type: 'integer',
					minimum: 1,
				}),
			],
			responses: {
				200: {
					description: 'The results, line by line.',
					headers: commonHeaders,
					content: {
						[ndjson]: { schema: { type: 'string', description: 'One JSON object per line.' } },
					},
				},
				...errors(400, 404, 409, 410, ...always),
			},
			security: securityOf(jobs.name, 'read'),
		},
	},
});

const linkTo = (operationId: string) => ({
	operationId,
	parameters: { id: '$response.body#/id' },
});

/** The schemas of jobs: a record and a list. */
export function jobSchemas(): Record<string, JsonSchema> {
	const { Job, JobList } = resourceSchemas(jobs);
	return { Job: Job!, JobList: JobList! };
}
