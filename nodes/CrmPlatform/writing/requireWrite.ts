import { type IDataObject, isExpression } from 'n8n-workflow';

import { readCustomFieldsIfAllowed } from '../api/customFields';
import type { Collection } from '../api/http/path';
import { ruleNumber } from '../api/http/rules';
import type { MatchDescription, WriteDescription } from '../api/openapi/writing';
import { notOffered } from '../api/requireDescribed';
import { ownMember } from '../base/ownMembers';
import { customFieldPrefix, fieldNamed, type Field } from '../fields/field';
import { valueIn } from '../fields/keys';
import { storedParameter } from '../mapping/locator';
import type { NodeRun } from '../model';

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

/** The fields by which people know records, and which need not be unique. */
export const nameFieldsToMatchOn = ['name', 'title'];

/** The field to match on; one that is not described has only its name, such as a custom field if these may not be read. */
export async function fieldToMatchOn({ api }: NodeRun, path: Collection, fields: Field[], name: string): Promise<Field> {
	const custom = name.startsWith(customFieldPrefix) ? await readCustomFieldsIfAllowed(api, path) : undefined;
	return [...fields, ...(custom?.fields ?? [])].find((field) => field.name === name) ?? fieldNamed(name);
}

/**
 * The field that the user has chosen to match on; undefined if none is chosen.
 *
 * @param parameter the parameter with the field, such as `matchOn`
 * @throws Error in the user's words for an expression that returns nothing
 */
export function chosenMatchField({ n8n }: NodeRun, parameter: string, item: number): string | undefined {
	const chosen = String(n8n.getNodeParameter(parameter, item, '') ?? '').trim();
	const stored = storedParameter(n8n, parameter, '');
	// n8n stores a single equals sign for an empty expression.
	if (chosen !== '' || !isExpression(stored) || stored.slice(1).trim() === '') return chosen || undefined;
	throw new Error(
		'Match On is empty for this item, so nothing was written for it. '
		+ 'Choose the field that identifies a record, such as email, or correct the expression.',
	);
}

/**
 * The field to match on: the user's choice, or the service's default. A choice that the service does not support is
 * refused, since another record would be overwritten.
 *
 * @returns undefined if the service decides
 * @throws Error in the user's words if the service does not find records by the field, or if its description does not say
 * how or could not be read
 */
export function requireMatchField({ api }: NodeRun, match: MatchDescription | undefined, field = match?.whenBlank): string | undefined {
	if (field === undefined) return undefined;
	api.requireDescription(`Match On ${field}`);
	if (!match) {
		throw new Error(
			`Match On: the CRM’s API description does not say how records are found by ${field} (${ruleNumber(10)}), so nothing was sent. `
			+ 'Leave Match On empty to let the CRM choose, or find the records with Get Many and use Update.',
		);
	}
	const { values, takesCustomFields } = match;
	// The packaged description does not know the fields of another service.
	if (values.includes(field) || (takesCustomFields && field.startsWith(customFieldPrefix)) || !api.isSelfDescribed()) return field;
	throw new Error(`Match On: the CRM does not find records by ${field}, so nothing was sent. Choose ${values.join(', ')}.`);
}

/** The value by which a record is found, if it has one. */
export function matchValue(field: string, body: IDataObject): string | undefined {
	const value = ownMember(body, field) ?? valueIn(body, { path: field.split('.') }) ?? null;
	return value === null ? undefined : String(value);
}

export const noMatchValue = (field: string): string =>
	`The field to match on, ${field}, has no value. Enter a value, or match on another field.`;
