import type { Context } from 'hono';
import { Problem } from '../foundation/problem.ts';
import type { Route } from '../http/route.ts';
import { anyRecords, customObjects, objectKeyOf, recordsOf } from '../schemas/custom-objects.ts';
import { resources } from '../schemas/index.ts';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import type { Env, Service } from '../http/service.ts';
import type { StoreView } from '../store/visible-store.ts';
import { collectionRoutes } from './routes.ts';

/** A resource that every account has, or the records of one of this account's custom objects. */
export function resourceNamed(store: StoreView, name: string): Resource | undefined {
	if (objectKeyOf(name) !== undefined) return store.table(name)?.resource;
	return resources.find((resource) => resource.name === name);
}

/**
 * The records of custom objects. Which objects there are is known at run time only, so every
 * request goes on to the routes of the resource that the definition makes.
 */
export function customObjectRoutes(service: Service): Route[] {
	const known = new Map<string, Route[]>();
	const routesOf = (definition: StoredRecord): Route[] => {
		const routes = known.get(definition.id) ?? collectionRoutes(service, recordsOf(definition));
		known.set(definition.id, routes);
		return routes;
	};
	const definitionOf = (c: Context<Env>): StoredRecord => {
		const key = c.req.param('key')!;
		const byKey = { sql: '"key" = ?', values: [key] };
		const [definition] = service.store.table(customObjects.name)!.findAll([byKey], 1);
		if (definition) return definition;
		throw new Problem('not_found', `There is no custom object ${key}.`);
	};
	// They are the same for all objects, in the same order.
	return collectionRoutes(service, anyRecords(':key')).map((route, i) => ({
		...route,
		handler: (c) => routesOf(definitionOf(c))[i]!.handler(c),
	}));
}
