import { z } from 'zod/v4';
import { queryParameter } from '../endpoint/parameters.ts';
import { invalidParameter, unknownParameter, Problem, validationFailed } from '../../core/foundation/problem.ts';
import type { Parameter } from '../endpoint/responses.ts';
import type { Service } from '../../core/service.ts';
import { requireUniqueMatchOn } from '../../domain/records/match.ts';
import { recordsName, recordsPattern } from '../../core/schemas/custom-objects.ts';
import { resources } from '../../core/schemas/index.ts';
import { type Job, jobOperations, jobLimits } from '../../core/schemas/jobs.ts';
import type { Context } from 'hono';
import { decodeText, requireContentType } from '../http/body.ts';
import type { Line } from '../../core/store/job-lines.ts';

export const jobQuery = z.object({
	resource: z
		.union(
			[
				z.enum(resources.map(({ name }) => name)),
				z.string().regex(new RegExp(`^${recordsPattern}$`)).meta({
					pattern: `^${recordsPattern}$`,
					examples: ['custom-objects/machines/records'],
				}),
			],
			`Expected one of: ${[...resources.map(({ name }) => name), recordsName('{key}')].join(', ')}.`,
		)
		.meta({ description: 'The resource of the records.' }),
	operation: z.enum(jobOperations).meta({ description: 'The operation to apply to each line; export reads records instead.' }),
	match_on: z.string().optional().meta({ description: 'For upsert: the unique field to match records on.' }),
});

/** Further parameters of an export's query. */
export const exportParameter: Parameter = {
	...queryParameter(
		'query',
		'For export: parameters of the list of these records, such as filters, sort and fields, ' +
			'each as a separate query parameter; except cursor, limit, and filters with the names of ' +
			'the parameters above.',
		{ type: 'object', additionalProperties: { type: 'string' } },
	),
	style: 'form',
	explode: true,
};

/** The job that the query of a request describes; the lines are in the body. */
export type JobRequest = Pick<Job, 'resource' | 'operation' | 'match_on'> & { exported: ExportQuery };

/** The query of an export, without what concerns the job. */
export type ExportQuery = Record<string, string>;

/**
 * @param queryTexts the whole query; parameters that `orderQuery` does not name belong to the list of an export
 * @throws Problem invalid_parameter, unknown_parameter
 */
export function requestedJob({ store }: Service, query: z.output<typeof jobQuery>, queryTexts: Map<string, string>): JobRequest {
	const { operation, match_on: matchOn = null } = query;
	const resource = store.table(query.resource)?.resource;
	if (!resource) throw invalidParameter('resource', `There is no custom object with the records ${query.resource}.`);
	const others = [...queryTexts].filter(([name]) => !Object.hasOwn(jobQuery.shape, name));
	const [other] = others;
	if (operation !== 'export' && other) throw unknownParameter(other[0]);
	if (operation !== 'upsert' && matchOn !== null) {
		throw invalidParameter('match_on', 'match_on is for the operation upsert only.');
	}
	if (operation === 'upsert') {
		if (matchOn === null) throw invalidParameter('match_on', 'match_on is required: it names the field to match on.');
		requireUniqueMatchOn(store, resource, matchOn);
	}
	return { resource: resource.name, operation, match_on: matchOn, exported: Object.fromEntries(others) };
}

/**
 * Reads a body of newline-delimited JSON. Blank lines are counted and skipped.
 *
 * @throws Problem unsupported_media_type, payload_too_large, malformed_json (not UTF-8), validation_failed (no lines)
 */
export async function receiveLines(c: Context): Promise<{ bytes: Uint8Array; lines: Line[] }> {
	requireContentType(
		c,
		/^application\/(x-)?ndjson *(;|$)/i,
		'Send one JSON object per line with Content-Type: application/x-ndjson',
	);
	const bytes = new Uint8Array(await c.req.arrayBuffer());
	const lines = decodeText(bytes).split('\n').map((text, position) => ({ position, text }))
		.filter(({ text }) => /[^\t\r ]/.test(text));
	const tooLong = lines.find(({ text }) => Buffer.byteLength(text) > jobLimits.line_bytes);
	if (tooLong) throw tooLarge(`Line ${tooLong.position + 1} has more than 1 MiB (1,048,576 bytes).`);
	if (lines.length > jobLimits.lines) throw tooLarge('A job accepts at most 100,000 lines.');
	if (lines.length > 0) return { bytes, lines };
	throw validationFailed([{ pointer: '', code: 'required', detail: 'The body is empty. Send one JSON object per line.' }]);
}

const tooLarge = (detail: string): Problem => new Problem('payload_too_large', `${detail} Send it as several jobs.`);
