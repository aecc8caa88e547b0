import { NodeOperationError, type ILoadOptionsFunctions } from 'n8n-workflow';

import { connect, describedBy, nodeError, type Connection } from '../api/connection';
import type { ResourceDescription } from '../api/openapi/description';
import { packagedDocument } from '../api/openapi/document';
import { filledPath, type Collection } from '../api/http/path';
import { operationOf, type Operation, type Resource } from '../model';
import { commonMeaning } from '../log/crmEvent';
import { chosenResource, resourceAt } from '../resources';

/** The state of an opened node, as its pickers need it. */
export interface EditorContext {
	api: Connection;
	resource: Resource;
	description: ResourceDescription;
	/** With the records picked for its parameters. */
	collection: Collection;
	operation?: Operation | undefined;
}

/** Why an opened node has no choices to offer; its message tells the user what to do. */
export class NothingToOffer extends Error {}

/**
 * Reads the state of an opened node.
 *
 * @throws NothingToOffer if the fields depend on a choice the user has not made, or if the service
 * does not offer the resource
 */
export async function editorContext(n8n: ILoadOptionsFunctions): Promise<EditorContext> {
	const events = n8n.getCurrentNodeParameter('source') === 'records' ? undefined : n8n.getCurrentNodeParameter('events');
	if (events !== undefined) return await contextOfEvents(n8n, [events].flat().map(String));
	const resource = chosenResource((parameter) => n8n.getCurrentNodeParameter(parameter));
	if (!resource) throw new NothingToOffer('Choose a resource first.');
	const collection = filledPath(resource.path, (parent) => {
		const picked = n8n.getCurrentNodeParameter(parent, { extractValue: true });
		if (picked) return String(picked);
		const property = resource.parents?.find(({ name }) => name === parent);
		throw new NothingToOffer(`Choose the ${property?.displayName.toLowerCase() ?? parent} first.`);
	});
	const api = await editorConnection(n8n);
	const description = await api.describe(resource.path);
	if (!description) {
		throw new NothingToOffer(`The API description does not include ${resource.path}.`);
	}
	return { api, resource, description, collection, operation: operationOf(resource, n8n.getCurrentNodeParameter('operation')) };
}

/** The records that the chosen events of a trigger are about. */
async function contextOfEvents(n8n: ILoadOptionsFunctions, events: string[]): Promise<EditorContext> {
	const api = await editorConnection(n8n);
	const meaning = commonMeaning(events, await api.describeEvents());
	const resource = meaning && resourceAt(meaning.template);
	const description = resource && (await api.describe(resource.path));
	if (description) return { api, resource, description, collection: meaning.collection };
	throw new NothingToOffer('Choose events of one record type first.');
}

/**
 * The connection of an opened node. Without a usable credential, it uses the packaged description, and its
 * requests fail: n8n 2.41 requests fields before it assigns the credential to a node added behind another.
 */
export async function editorConnection(n8n: ILoadOptionsFunctions): Promise<Connection> {
	return await connect(n8n).catch((reason: Error) => withoutService(n8n, reason));
}

function withoutService(n8n: ILoadOptionsFunctions, reason: Error): Connection {
	const { parameters, credentials = {} } = n8n.getNode();
	const type = parameters.authentication === 'oAuth2' ? 'crmPlatformOAuth2Api' : 'crmPlatformApi';
	const refuse = async () => {
		throw new NodeOperationError(n8n.getNode(), reason);
	};
	const notices = new Set([type in credentials ? `Standard fields only (${reason.message})` : beforeCredential]);
	return {
		...describedBy(async () => ({ document: await packagedDocument(), isPackaged: true }), notices),
		viewer: '',
		secretDigest: '',
		sign: () => '',
		notices,
		send: refuse,
		hasSentWrites: () => false,
		pause: refuse,
		failure: (problem) => nodeError(n8n, problem),
	};
}

/** Marks the fields of a form that n8n requested before the node had its credential. */
export const beforeCredential = 'beforeCredential';
