import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import { parseOpenApi } from '../../nodes/CrmPlatform/api/openapi/openapi';

export const json = (schema: object) => ({ content: { 'application/json': { schema } } });

/** Describes a document with one list and one create operation, the rest as given. */
export function describe_(get: object, post: object = {}, components: object = {}) {
	const document = parseOpenApi({
		openapi: '3.1.0',
		paths: { '/v1/contacts': { get, post } },
		components,
	});
	if (!document) throw new Error('not a document');
	const description = describeResource(document, '/contacts');
	if (!description?.list || !description.create) throw new Error('not described');
	return { list: description.list, create: description.create, summary: description.summary };
}

export const query = (name: string, schema: object) => ({ name, in: 'query', schema });
export const fieldsOf = (schema: object, components: object = {}) =>
	describe_({}, { requestBody: json(schema) }, components).create.fields;
