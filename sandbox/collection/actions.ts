import { z } from 'zod/v4';
import { limitBody } from '../http/body.ts';
import { Problem } from '../foundation/problem.ts';
import type { Route } from '../http/route.ts';
import type { Resource } from '../schemas/resource.ts';
import type { Service } from '../http/service.ts';
import { recordAnswer } from '../records/answer.ts';
import { fieldErrors } from '../foundation/field-errors.ts';
import type { JsonObject } from '../foundation/json.ts';
import { queryParameters } from '../http/query.ts';
import { answerWrite } from './requests.ts';
import { ruleContext } from '../records/rules.ts';
import { changeRecord, existingRecord, requireVersion } from '../records/write.ts';

/** What can be done to a resource's records beside setting their fields. */
export function actionRoutes(service: Service, resource: Resource): Route[] {
	return Object.entries(resource.actions ?? {}).map(([name, action]) => {
		const input = z.strictObject(action.input ?? {});
		return {
			method: 'POST',
			path: `/v1/${resource.name}/:id/${name}`,
			middleware: limitBody,
			handler(c) {
				queryParameters(c, []);
				// Where nothing has to be said, the body may be left out.
				const hasBody = c.req.header('Content-Type') !== undefined;
				return answerWrite(service, resource, c, hasBody, (writing, body) => {
					const record = existingRecord(writing.store, resource, c.req.param('id')!);
					requireVersion(record, c.req.header('If-Match'));
					const said = parseInput(input, body);
					const change = action.change(record, said, ruleContext(writing));
					return recordAnswer(200, changeRecord(writing, record, change, true));
				});
			},
		};
	});
}

function parseInput(input: z.ZodObject, body: JsonObject): JsonObject {
	const parsed = input.safeParse(body);
	if (parsed.success) return parsed.data;
	const errors = fieldErrors(parsed.error, body);
	throw new Problem('validation_failed', errors[0]!.detail, { errors });
}
