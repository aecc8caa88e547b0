import type { ApiRoute } from '../endpoint/endpoint.ts';
import type { Context } from 'hono';
import { getOrCreate } from '../../core/foundation/maps.ts';
import { Problem } from '../../core/foundation/problem.ts';
import { anyRecords, recordsName } from '../../core/schemas/custom-objects.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import type { Env, Service } from '../../core/service.ts';

/**
 * The routes of the records of custom objects. Objects are known only at run time, so each request
 * is passed to the route of the resource that is derived from the object's definition.
 *
 * @param routesOf creates the routes of one resource; they are in the same order for every object
 */
export function customObjectRoutes(service: Service, routesOf: (service: Service, resource: Resource) => ApiRoute[]): ApiRoute[] {
	const routesByResource = new WeakMap<Resource, ApiRoute[]>();
	const routesFor = (c: Context<Env>): ApiRoute[] => {
		const key = c.req.param('key')!;
		const resource = service.store.table(recordsName(key))?.resource;
		if (!resource) throw new Problem('not_found', `There is no custom object ${key}.`);
		return getOrCreate(routesByResource, resource, () => routesOf(service, resource));
	};
	return routesOf(service, anyRecords).map((route, i) => ({ ...route, handler: (c) => routesFor(c)[i]!.handler(c) }));
}
