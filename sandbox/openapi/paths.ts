import { pathParameter } from '../description/parameters.ts';
import { scopeFor } from '../access/scopes.ts';
import { commonErrors, errors } from '../description/responses.ts';
import type { Operation, Parameter } from '../http/operation.ts';
import type { ApiRoute } from '../http/route.ts';
import { anyRecords } from '../schemas/custom-objects.ts';
import { resources } from '../schemas/index.ts';
import { exampleId } from '../schemas/request-examples.ts';
import { tags } from '../schemas/tags.ts';

interface PathItem {
	parameters?: Parameter[];
	[method: string]: Operation | Parameter[] | undefined;
}

/** The parameters in paths. An operation can describe its own instead. */
const usualParameters = [
	pathParameter('id', 'ID of the record.'),
	pathParameter('tag_id', 'ID of the tag.'),
	pathParameter('delivery_id', 'ID of the delivery.'),
	pathParameter('key', 'Key of the object.'),
];

/**
 * The paths of routes, each with its parameters and its operations.
 *
 * @throws Error if a parameter in a path is not described
 */
export function pathsOf(routes: readonly ApiRoute[]): Record<string, PathItem> {
	const paths: Record<string, PathItem> = {};
	for (const { method, path, operation: describe } of routes) {
		const own = describe();
		const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
		const inPath = names.map((name) => parameterNamed(name, own.parameters));
		const operation: Operation = {
			...own,
			parameters: own.parameters.filter((one) => !inPath.includes(one)),
			...credentials(method, path, own),
		};
		const shown = inPath.map((parameter) => ({ ...parameter, ...pathExample(path, parameter.name) }));
		paths[path] ??= inPath.length > 0 ? { parameters: shown } : {};
		paths[path][method.toLowerCase()] = operation;
	}
	return paths;
}

/** The credentials that a request needs, and the errors that every request with credentials can get. */
function credentials(method: string, path: string, { responses }: Operation): Partial<Operation> {
	const scope = scopeFor(method, path);
	if (scope === undefined) return {};
	return {
		responses: { ...responses, ...errors(...commonErrors) },
		...(scope !== null && { security: [{ apiKey: [] }, { oauth2: [scope] }] }),
	};
}

/** A value in the sample data, so that the documentation's requests can be sent as they stand. */
function pathExample(path: string, parameter: string): { example?: string } {
	const resource = [...resources, anyRecords].find(({ name }) => path.startsWith(`/v1/${name}/{id}`));
	const values: Record<string, string | undefined> = {
		id: resource && exampleId(resource.idPrefix),
		tag_id: exampleId(tags.idPrefix),
		key: 'machines',
	};
	const example = values[parameter];
	return example === undefined ? {} : { example };
}

function parameterNamed(name: string, own: Parameter[]): Parameter {
	const parameter = [...own, ...usualParameters].find((one) => one.in === 'path' && one.name === name);
	if (parameter) return parameter;
	throw new Error(`The path parameter ${name} has no description.`);
}
