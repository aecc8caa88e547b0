import type { ResourceDescription } from '../api/description';
import type { WriteDescription } from '../api/writing';
import type { Job, Resource } from '../model';

/**
 * What the service says of one operation on the job's resource.
 *
 * @throws Error in the user's words when the service does not offer it
 */
export async function offered<Verb extends keyof ResourceDescription>(
	{ api, resource }: Job,
	verb: Verb,
): Promise<NonNullable<ResourceDescription[Verb]>> {
	const description = (await api.describe(resource.path))?.[verb];
	if (description) return description;
	throw notOffered(`‘${verb}’`, resource);
}

/**
 * What the service says of the write the job's operation does.
 *
 * @throws Error in the user's words when the service does not offer it
 */
export async function offeredWrite({ api, resource, operation }: Job): Promise<WriteDescription> {
	const description = await api.describe(resource.path);
	const write = description && operation.write?.(description);
	if (write) return write;
	throw notOffered(`‘${operation.option.name}’`, resource);
}

function notOffered(what: string, { path }: Resource): Error {
	return new Error(
		`The service’s description does not offer ${what} for ${path}. Check the base URL and the description’s address in the credential.`,
	);
}
