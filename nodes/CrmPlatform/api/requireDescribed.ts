import type { Connection } from './connection';
import type { Collection } from './http/path';
import { ruleNumber } from './http/rules';
import type { ResourceDescription } from './openapi/description';

interface DescribedRun {
	api: Connection;
	resource: { path: Collection };
}

const abilityNames = {
	list: 'a list',
	create: 'Create',
	update: 'Update',
	upsert: 'Create or Update',
	delete: 'Delete',
};

/**
 * The service's description of the node's resource.
 *
 * @param abilities that are needed
 * @throws Error in the user's words if the service does not offer one of them
 */
export async function requireDescribed<Ability extends keyof typeof abilityNames>(
	run: DescribedRun,
	...abilities: Ability[]
): Promise<ResourceDescription & Required<Pick<ResourceDescription, Ability>>> {
	const description = await run.api.describe(run.resource.path);
	const missing = abilities.find((ability) => !description?.[ability]);
	if (!description || missing) throw notOffered(run, missing ? abilityNames[missing] : 'the fields of a record');
	return description as ResourceDescription & Required<Pick<ResourceDescription, Ability>>;
}

export function notOffered({ api, resource }: DescribedRun, missing: string): Error {
	const why = api.descriptionNotice() ?? 'Check the base URL and the API description URL in the credential.';
	const rule = { [abilityNames.update]: 2, [abilityNames.upsert]: 10 }[missing];
	const form = rule === undefined ? '' : `, in the form of ${ruleNumber(rule)}`;
	return new Error(`The API description does not include ${missing} for ${resource.path}${form}. ${why}`);
}
