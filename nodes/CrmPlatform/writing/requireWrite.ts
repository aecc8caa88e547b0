import type { IDataObject } from 'n8n-workflow';

import { ruleNumber } from '../api/http/rules';
import type { ResourceDescription } from '../api/openapi/description';
import type { WriteDescription } from '../api/openapi/writing';
import type { Execution, Resource } from '../model';
import { listed } from '../base/lists';
import type { Field } from '../fields/field';

/** The parts of a description, in the user's words. */
const partNames = {
	list: 'a list',
	create: 'Create',
	update: 'Update',
	upsert: 'Create or Update',
	delete: 'Delete',
	fields: 'the fields of a record',
	summary: 'the fields of a record',
};

/**
 * One part of the service's description of the node's resource.
 *
 * @throws Error in the user's words if the service does not offer it
 */
export async function requireDescribed<Part extends keyof typeof partNames>(
	{ api, resource }: Execution,
	part: Part,
): Promise<NonNullable<ResourceDescription[Part]>> {
	const description = (await api.describe(resource.path))?.[part];
	if (description) return description;
	throw notOffered(partNames[part], resource, api.descriptionNotice(), rules[part]);
}

/**
 * The service's description of the write of the node's operation.
 *
 * @throws Error in the user's words if the service does not offer it, or only in a format that the node cannot send
 */
export async function requireWrite({ api, resource, operation }: Execution): Promise<WriteDescription> {
	const description = await api.describe(resource.path);
	const write = description && operation.describedWrite?.(description);
	if (write?.refusal !== undefined) throw new Error(`${operation.option.name}: ${write.refusal}`);
	if (write) return write;
	throw notOffered(operation.option.name, resource, api.descriptionNotice(), rules[String(operation.option.value)]);
}

/** @param notice why the description is not the service's own, or incomplete */
function notOffered(missing: string, { path }: Resource, notice: string | undefined, rule?: number): Error {
	const why = notice ?? 'Check the base URL and the API description URL in the credential.';
	const form = rule === undefined ? '' : `, in the form of ${ruleNumber(rule)}`;
	return new Error(`The API description does not include ${missing} for ${path}${form}. ${why}`);
}

/** The rules that say in which form a service has an operation. */
const rules: Record<string, number | undefined> = { update: 2, upsert: 10 };

/**
 * Checks that an item has values: otherwise an empty record would be created, or a record written without a change.
 *
 * @param fields those of a new record
 * @throws Error in the user's words if there is nothing to write
 */
export function requireAnyValue(body: IDataObject, fields: Field[] = []): IDataObject {
	if (Object.keys(body).length > 0) return body;
	const needed = listed(fields.filter(({ required }) => required).map(({ label }) => label));
	throw new Error(
		`This item has no values to write, so nothing was sent. Set ${needed || 'at least one field'}. `
		+ 'Empty cells, and expressions that return undefined, do not count.',
	);
}
