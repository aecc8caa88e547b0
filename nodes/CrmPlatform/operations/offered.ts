import type { ResourceDescription } from '../api/description';
import type { Job } from '../model';

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
	throw new Error(
		`The service’s description does not offer ‘${verb}’ for ${resource.path}. Check the base URL and the description’s address in the credential.`,
	);
}
