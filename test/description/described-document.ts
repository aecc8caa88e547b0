import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import { type OpenApiDocument, parseOpenApi } from '../../nodes/CrmPlatform/api/openapi/openapi';

export const json = (schema: object) => ({ content: { 'application/json': { schema } } });
export const query = (name: string, schema: object) => ({ name, in: 'query', schema });

export const documentWith = (paths: object, components: object = {}): OpenApiDocument =>
	parseOpenApi({ openapi: '3.1.0', paths, components });

/** The description of contacts, which can be listed and created by these operations. */
export function describeContacts(get: object, post: object = {}, components: object = {}) {
	const description = describeResource(documentWith({ '/v1/contacts': { get, post } }, components), '/contacts');
	if (!description?.list || !description.create) throw new Error('The document does not describe contacts');
	return { list: description.list, create: description.create, summary: description.summary };
}

export const fieldsOf = (schema: object, components: object = {}) =>
	describeContacts({}, { requestBody: json(schema) }, components).create.fields;

/** A list with these parameters. */
export const listWith = (...parameters: object[]) => describeContacts({ parameters }).list;
