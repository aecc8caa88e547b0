import { type ApiRoute, endpoint } from '../endpoint/endpoint.ts';
import { success } from '../endpoint/responses.ts';
import { namesOf } from '../../core/schemas/names.ts';
import { actionInput, type Resource } from '../../core/schemas/resource.ts';
import type { Service } from '../../core/service.ts';
import { recordResponse } from '../../domain/records/record-response.ts';
import { takeAction } from '../../domain/records/take-action.ts';
import { respondToBodylessWrite, respondToWrite } from './respond-to-write.ts';

/** The routes of a resource's actions: what can be done with a record besides setting its fields. */
export function actionRoutes(service: Service, resource: Resource): ApiRoute[] {
	const { Singular, singular } = namesOf(resource);
	return Object.entries(resource.actions ?? {}).map(([name, action]) => endpoint({
		method: 'POST',
		path: `/v1/${resource.name}/{id}/${name}`,
		id: `${name}${Singular}`,
		tag: resource.name,
		summary: action.summary,
		description: action.description,
		body: actionInput(action),
		ifMatch: true,
		responses: { 200: success(`The changed ${singular}.`, Singular, 'ETag') },
		handle(c) {
			// The body may be absent if the action requires no input.
			const hasBody = c.req.header('Content-Type') !== undefined;
			const respond = hasBody ? respondToWrite : respondToBodylessWrite;
			return respond(service, resource, c, (context, body) => {
				const ifMatch = c.req.header('If-Match');
				const record = takeAction(context, c.req.param('id')!, action, body, ifMatch);
				return recordResponse(200, record);
			});
		},
	}));
}
