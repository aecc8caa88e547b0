import type { ResourceDescription } from '../api/openapi/description';
import type { WriteDescription } from '../api/openapi/writing';
import type { Execution, Resource } from '../model';

/**
 * The service's description of one operation on the node's resource.
 *
 * @throws Error in the user's words if the service does not offer it
 */
export async function requireDescribed<Verb extends keyof ResourceDescription>(
	{ api, resource }: Execution,
	verb: Verb,
): Promise<NonNullable<ResourceDescription[Verb]>> {
	const description = (await api.describe(resource.path))?.[verb];
	if (description) return description;
	throw notOffered(`“${verb}”`, resource, api.descriptionNotice());
}

/**
 * The service's description of the write of the node's operation.
 *
 * @throws Error in the user's words if the service does not offer it, or only in a format that the node cannot send
 */
export async function requireWrite({ api, resource, operation }: Execution): Promise<WriteDescription> {
	const description = await api.describe(resource.path);
	const write = description && operation.write?.(description);
	if (write?.refusal !== undefined) throw new Error(`${operation.option.name}: ${write.refusal}`);
	if (write) return write;
	throw notOffered(operation.option.name, resource, api.descriptionNotice());
}

/** @param notice why the description is not the service's own, or incomplete */
function notOffered(operationName: string, { path }: Resource, notice: string | undefined): Error {
	const why = notice ?? 'Check the base URL and the API description URL in the credential.';
	return new Error(`The API description does not include ${operationName} for ${path}. ${why}`);
}
