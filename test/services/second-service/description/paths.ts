const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const body = (name: string) => ({ $ref: `#/components/requestBodies/${name}` });
const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` });
const refused = { $ref: '#/components/responses/Refused' };

interface Names {
	/** Singular and plural, as in the names of components, such as Contact. */
	singular: string;
	plural: string;
	path: string;
	/** The unique field an upsert matches on. */
	key: string;
	filters: string[];
	/** Link Objects of the list: how to request the next page. */
	links?: object;
}

const answer = (text: string, singular: string) => ({ description: text, content: json(singular) });

/** The two paths of a collection and all their methods. */
export const pathsOf = (names: Names) => ({
	[`/${names.path}`]: collectionMethods(names),
	[`/${names.path}/{reference}`]: recordMethods(names),
});

function collectionMethods({ singular, plural, path, key, filters, links }: Names) {
	const created = answer(`The new ${singular}`, singular);
	return {
		get: {
			operationId: `${path}.browse`,
			summary: `Browse ${path}`,
			parameters: [
				parameter('After'),
				parameter('PageSize'),
				parameter(`${plural}Order`),
				...filters.map((name) => parameter(`${plural}${name}`)),
			],
			responses: {
				'200': {
					description: `A page of ${path}`,
					content: json(`${plural}Page`),
					...(links ? { links } : {}),
				},
				default: refused,
			},
		},
		post: {
			operationId: `${path}.add`,
			summary: `Add a ${singular}`,
			parameters: [parameter('WriteKey')],
			requestBody: body(`New${singular}`),
			responses: { '201': created, default: refused },
		},
		put: {
			operationId: `${path}.put`,
			summary: `Change the ${singular} with this ${key}, or add it`,
			parameters: [
				parameter('WriteKey'),
				{
					name: 'key',
					in: 'query',
					required: true,
					description: 'The unique field to match on',
					schema: { type: 'string', enum: [key] },
				},
			],
			requestBody: body(`New${singular}`),
			responses: { '200': answer(`The changed ${singular}`, singular), '201': created, default: refused },
		},
	};
}

function recordMethods({ singular, path }: Names) {
	return {
		parameters: [parameter('Reference')],
		get: {
			operationId: `${path}.read`,
			summary: `Read a ${singular}`,
			responses: { '200': answer(`The ${singular}`, singular), default: refused },
		},
		patch: {
			operationId: `${path}.change`,
			summary: `Change some fields of a ${singular}`,
			parameters: [parameter('WriteKey')],
			requestBody: body(`Changed${singular}`),
			responses: { '200': answer(`The changed ${singular}`, singular), default: refused },
		},
		delete: {
			operationId: `${path}.remove`,
			summary: `Remove a ${singular}`,
			parameters: [parameter('WriteKey')],
			responses: { '204': { description: 'Removed' }, default: refused },
		},
	};
}

function json(name: string) {
	return { 'application/json': { schema: schema(name) } };
}
