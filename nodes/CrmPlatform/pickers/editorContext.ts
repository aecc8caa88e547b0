import type { ILoadOptionsFunctions } from 'n8n-workflow';

import { connect, type Connection } from '../api/connection';
import type { ResourceDescription } from '../api/openapi/description';
import { filledPath } from '../api/http/path';
import type { Operation, Resource } from '../model';
import { resourceNamed } from '../resources';

/** What a picker of an opened node works with. */
export interface EditorContext {
	api: Connection;
	resource: Resource;
	description: ResourceDescription;
	/** Path of the collection, with what was picked before filled in. */
	collection: string;
	/** What the node is to do, where it has been chosen. */
	operation?: Operation;
}

/** Something the fields depend on has not been chosen yet. */
export class NotChosenYet extends Error {}

/** @throws NodeOperationError or NodeApiError in the user's words; n8n shows it in the picker's place */
export async function editorContext(n8n: ILoadOptionsFunctions): Promise<EditorContext> {
	const value = n8n.getCurrentNodeParameter('resource');
	const resource = resourceNamed(String(value));
	if (!resource) throw new NotChosenYet('Choose a resource first.');
	const api = await connect(n8n);
	const description = await api.describe(resource.path);
	if (!description) throw new Error(`The service’s description does not offer ${resource.path}.`);
	const collection = collectionOf(n8n, resource);
	const wanted = n8n.getCurrentNodeParameter('operation');
	const operation = resource.operations.find(({ option }) => option.value === wanted);
	const open = { api, resource, description, collection };
	return operation ? { ...open, operation } : open;
}

function collectionOf(n8n: ILoadOptionsFunctions, resource: Resource): string {
	const filled = filledPath(resource.path, (parent) => {
		const picked = n8n.getCurrentNodeParameter(parent, { extractValue: true });
		const property = resource.parents?.find(({ name }) => name === parent);
		if (picked) return String(picked);
		throw new NotChosenYet(`Choose the ${property?.displayName.toLowerCase() ?? parent} first.`);
	});
	return `/v1${filled}`;
}
