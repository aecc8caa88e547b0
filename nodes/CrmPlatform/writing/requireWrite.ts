import type { IDataObject } from 'n8n-workflow';

import { ruleNumber } from '../api/http/rules';
import type { ResourceDescription } from '../api/openapi/description';
import type { WriteDescription } from '../api/openapi/writing';
import type { NodeRun } from '../model';

/** What a service may offer of a resource, in the user's words. */
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
	run: NodeRun,
	...abilities: Ability[]
): Promise<ResourceDescription & Required<Pick<ResourceDescription, Ability>>> {
	const description = await run.api.describe(run.resource.path);
	const missing = abilities.find((ability) => !description?.[ability]);
	if (!description || missing) throw notOffered(run, missing ? abilityNames[missing] : 'the fields of a record');
	return description as ResourceDescription & Required<Pick<ResourceDescription, Ability>>;
}

/**
 * The service's description of the write of the node's operation.
 *
 * @throws Error in the user's words if the service does not offer it, or only in a format that the node cannot send
 */
export async function requireWrite(run: NodeRun): Promise<WriteDescription> {
	const { api, resource, operation } = run;
	const description = await api.describe(resource.path);
	const write = description && operation.describedWrite?.(description);
	if (write?.refusal !== undefined) throw new Error(`${operation.option.name}: ${write.refusal}`);
	if (write) return write;
	throw notOffered(run, operation.option.name);
}

function notOffered({ api, resource }: NodeRun, missing: string): Error {
	const why = api.descriptionNotice() ?? 'Check the base URL and the API description URL in the credential.';
	const rule = { [abilityNames.update]: 2, [abilityNames.upsert]: 10 }[missing];
	const form = rule === undefined ? '' : `, in the form of ${ruleNumber(rule)}`;
	return new Error(`The API description does not include ${missing} for ${resource.path}${form}. ${why}`);
}

/**
 * Checks that an item has values: otherwise an empty record would be created, or a record written without a change.
 *
 * @throws Error in the user's words if there is nothing to write
 */
export function requireAnyValue(body: IDataObject): IDataObject {
	if (Object.keys(body).length > 0) return body;
	throw new Error(
		'This item has no values to write, so nothing was sent. Set at least one field. '
		+ 'Empty cells, and expressions that return undefined, do not count.',
	);
}
