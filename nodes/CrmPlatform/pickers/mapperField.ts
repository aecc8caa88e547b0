import type { INodePropertyOptions, ResourceMapperField } from 'n8n-workflow';

import type { Field, FieldKind } from '../api/openapi/fields';

const types: Record<FieldKind, NonNullable<ResourceMapperField['type']>> = {
	text: 'string',
	number: 'number',
	// A switch would be written as false by opening the node; a list can be left blank.
	boolean: 'options',
	// The calendar of n8n's mapper always asks for a time as well.
	date: 'string',
	dateTime: 'dateTime',
	choice: 'options',
	// With commas, and JSON as text: the editor n8n has for arrays and objects marks a blank as wrong.
	list: 'string',
	json: 'string',
	any: 'string',
};

const trueOrFalse = [
	{ name: 'True', value: true },
	{ name: 'False', value: false },
];

/** Values of a list that its label names; more would not be read. */
const mostNamed = 8;

/**
 * A field as n8n's resource mapper shows it.
 *
 * @param options the values to choose from, if there is a list of them
 * @param more whether records can be matched on it, and whether the form leaves it out at first
 */
export function mapperField(
	field: Field,
	options: INodePropertyOptions[] | undefined,
	more: Pick<ResourceMapperField, 'canBeUsedToMatch' | 'defaultMatch' | 'removed'> = { defaultMatch: false },
): ResourceMapperField {
	const { name, kind } = field;
	// n8n would demand a value here also where the record is picked beside.
	const required = field.required && field.reference === undefined && !field.linksTo;
	const chosen = kind === 'boolean' ? trueOrFalse : options;
	const mapped: ResourceMapperField = {
		id: name,
		displayName: chosen ? field.label : labelOf(field),
		type: chosen ? 'options' : types[kind],
		required,
		display: true,
		canBeUsedToMatch: false,
		...more,
	};
	return chosen ? { ...mapped, options: chosen } : mapped;
}

/** The values a field names itself. */
export function choiceOptions({ choices }: Field): INodePropertyOptions[] | undefined {
	return choices?.map(({ label, value }) => ({ name: label, value }));
}

/**
 * n8n shows no description beside a mapped field, and a model sees its label alone: so the label
 * says what to write.
 */
function labelOf({ label, kind, reference, part, choices = [] }: Field): string {
	if (kind === 'json') return `${label} (JSON)`;
	if (kind === 'date') return `${label} (YYYY-MM-DD)`;
	// Parts of records, such as stages, are not looked up by name.
	if (kind !== 'list' && part !== undefined) return `${label} (ID)`;
	if (kind !== 'list') return reference === undefined ? label : `${label} (Name or ID)`;
	const named = choices.slice(0, mostNamed).map(({ value }) => String(value));
	if (named.length === 0) return `${label} (Comma-Separated)`;
	// n8n cuts a label after some 25 characters: what there is to choose comes first.
	return `${label}: ${named.join(', ')}${choices.length > mostNamed ? ', …' : ''} (Comma-Separated)`;
}
