import { limitBody } from '../http/body.ts';
import { idempotencyKeyParameter, ifMatchParameter } from '../description/parameters.ts';
import { errors, success } from '../description/responses.ts';
import { inputSchema } from '../description/schemas.ts';
import type { Operation } from '../http/operation.ts';
import type { ApiRoute } from '../http/route.ts';
import { jsonSchema } from '../schemas/json-schema.ts';
import { namesOf } from '../schemas/names.ts';
import { actionInput, type Resource } from '../schemas/resource.ts';
import type { Service } from '../http/service.ts';
import { recordAnswer } from '../records/answer.ts';
import { takeAction } from '../records/take-action.ts';
import { queryParameters } from '../http/query.ts';
import { answerWrite } from './requests.ts';

/** The routes of a resource's actions: what can be done to a record beside setting its fields. */
export function actionRoutes(service: Service, resource: Resource): ApiRoute[] {
	return Object.entries(resource.actions ?? {}).map(([name, action]) => ({
		method: 'POST',
		path: `/v1/${resource.name}/{id}/${name}`,
		middleware: limitBody,
		operation: () => actionOperation(resource, name),
		handler(c) {
			queryParameters(c, []);
			// An action without required input takes no body either.
			const hasBody = c.req.header('Content-Type') !== undefined;
			return answerWrite(service, resource, c, hasBody, (writing, body) => {
				const ifMatch = c.req.header('If-Match');
				const record = takeAction(writing, c.req.param('id')!, action, body, ifMatch);
				return recordAnswer(200, record);
			});
		},
	}));
}

function actionOperation(resource: Resource, name: string): Operation {
	const { One, one } = namesOf(resource);
	const action = resource.actions![name]!;
	const { summary, description } = action;
	const { properties = {}, required = [] } = jsonSchema(actionInput(action), 'input');
	const fields = Object.entries(properties);
	const schema = inputSchema(`${summary}: the input.`, fields, required);
	return {
		operationId: `${name}${One}`,
		tags: [resource.name],
		summary,
		description,
		parameters: [ifMatchParameter, idempotencyKeyParameter],
		...(fields.length > 0 && {
			requestBody: { required: required.length > 0, content: { 'application/json': { schema } } },
		}),
		responses: {
			200: success(`The changed ${one}.`, One, 'ETag', 'Idempotent-Replayed'),
			...errors(400, 404, 409, 412, 413, 415, 422),
		},
	};
}
