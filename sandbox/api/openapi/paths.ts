import type { ApiRoute } from '../endpoint/endpoint.ts';
import { scopeFor } from '../../domain/access/scopes.ts';
import { commonErrors, errors, type Operation, type Parameter } from '../endpoint/responses.ts';
import { anyRecords } from '../../core/schemas/custom-objects.ts';
import { resources } from '../../core/schemas/index.ts';
import { exampleId } from '../../core/schemas/request-examples.ts';
import { tags } from '../../core/schemas/tags.ts';

interface PathItem {
	parameters?: Parameter[];
	[method: string]: Operation | Parameter[] | undefined;
}

/** The paths of routes, each with its parameters and its operations. */
export function pathsOf(routes: readonly ApiRoute[]): Record<string, PathItem> {
	const paths: Record<string, PathItem> = {};
	for (const route of routes) {
		const { method, path } = route;
		const operation = route.operation();
		const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
		paths[path] ??= names.length > 0 ? { parameters: names.map((name) => pathParameter(path, name)) } : {};
		paths[path][method.toLowerCase()] = { ...operation, ...securityAndErrors(method, path, operation) };
	}
	return paths;
}

/** The credentials that a request needs, and the errors that every request with credentials can get. */
function securityAndErrors(method: string, path: string, { responses }: Operation): Partial<Operation> {
	const scope = scopeFor(method, path);
	if (scope === undefined) return {};
	return {
		responses: { ...responses, ...errors(commonErrors) },
		...(scope !== null && { security: [{ apiKey: [] }, { oauth2: [scope] }] }),
	};
}

const nounByParameter: Record<string, string> = { tag_id: 'tag', delivery_id: 'delivery' };

/** Its example exists in the sample data, so that the documentation's requests can be sent unchanged. */
function pathParameter(path: string, name: string): Parameter {
	const resource = [...resources, anyRecords].find((candidate) => path.startsWith(`/v1/${candidate.name}/{id}`));
	const noun = nounByParameter[name] ?? (path.startsWith('/v1/events') ? 'event' : 'record');
	const examples: Record<string, string | undefined> = {
		id: resource && exampleId(resource.idPrefix),
		tag_id: exampleId(tags.idPrefix),
		key: 'machines',
	};
	return {
		name,
		in: 'path',
		description: name === 'key' ? 'Key of the object.' : `ID of the ${noun}.`,
		required: true,
		schema: { type: 'string', maxLength: 64 },
		...(examples[name] !== undefined && { example: examples[name] }),
	};
}
