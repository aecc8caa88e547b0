import { z } from 'zod/v4';
import { jsonSchema } from '../schemas/json-schema.ts';
import type { Action, Resource } from '../schemas/resource.ts';
import { namesOf } from '../schemas/names.ts';
import { securityOf } from './oauth2.ts';
import { commonErrors } from './operations.ts';
import { idempotencyKeyParameter, idParameter, ifMatchParameter } from './parameters.ts';
import { errors, success } from './responses.ts';
import { inputSchema } from './schemas.ts';

type ActionEntry = [name: string, action: Action<Record<string, z.ZodType>>];

/** The paths of what can be done to a resource's records. */
export function actionPaths(resource: Resource): Record<string, unknown> {
	const { One, one } = namesOf(resource);
	const operation = ([name, action]: ActionEntry) => ({
		operationId: `${name}${One}`,
		tags: [resource.name],
		summary: action.summary,
		description: action.description,
		parameters: [ifMatchParameter, idempotencyKeyParameter],
		...(action.input && {
			requestBody: {
				required: isDemanding(action.input),
				content: { 'application/json': { schema: schemaOf(action.summary, action.input) } },
			},
		}),
		responses: {
			200: success(`The ${one} after it.`, One, 'ETag', 'Idempotent-Replayed'),
			...errors(400, 404, 409, 412, 413, 415, 422, ...commonErrors),
		},
		security: securityOf(resource.name, 'write'),
	});
	return Object.fromEntries(
		Object.entries(resource.actions ?? {}).map((entry) => [
			`/v1/${resource.name}/{id}/${entry[0]}`,
			{ parameters: [idParameter], post: operation(entry) },
		]),
	);
}

const isDemanding = (input: Record<string, z.ZodType>): boolean =>
	!z.object(input).safeParse({}).success;

function schemaOf(summary: string, input: Record<string, z.ZodType>) {
	const { properties = {}, required = [] } = jsonSchema(z.strictObject(input), 'input');
	return inputSchema(`${summary}: what there is to say.`, Object.entries(properties), required);
}
