import type { ILoadOptionsFunctions } from 'n8n-workflow';

import { connect, type Connection } from '../api/connection';
import type { ResourceDescription } from '../api/description';
import type { Resource } from '../model';
import { resourceNamed } from '../resources';

/** What a picker of an opened node works with. */
export interface Opened {
	api: Connection;
	resource: Resource;
	description: ResourceDescription;
}

/** @throws NodeOperationError or NodeApiError in the user's words; n8n shows it in the picker's place */
export async function opened(n8n: ILoadOptionsFunctions): Promise<Opened> {
	const value = n8n.getCurrentNodeParameter('resource');
	const resource = resourceNamed(String(value));
	if (!resource) throw new Error('Choose a resource first.');
	const api = await connect(n8n);
	const description = await api.describe(resource.path);
	if (!description) throw new Error(`The service’s description does not offer ${resource.path}.`);
	return { api, resource, description };
}
