import type { INodePropertyOptions, ResourceMapperField } from 'n8n-workflow';

import { isRequiredInForm, type Field, type FieldKind } from '../api/openapi/schemaFields';

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
const maxNamed = 8;

/**
 * A field as n8n's resource mapper shows it.
 *
 * @param options the values to choose from, if there is a list of them
 * @param more whether the form leaves it out at first
 */
export function mapperField(
	field: Field,
	options: INodePropertyOptions[] | undefined,
	more: Partial<Pick<ResourceMapperField, 'removed' | 'required'>> = {},
): ResourceMapperField {
	const { name, kind } = field;
	const required = isRequiredInForm(field);
	const chosen = kind === 'boolean' ? trueOrFalse : options;
	const mapped: ResourceMapperField = {
		id: name,
		displayName: labelOf(field, chosen !== undefined, required),
		type: chosen ? 'options' : types[kind],
		required,
		display: true,
		// Match On is a parameter of its own.
		canBeUsedToMatch: false,
		defaultMatch: false,
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
 * says what to write. n8n cuts it after some 25 characters.
 */
function labelOf(field: Field, isChosen: boolean, isRequired: boolean): string {
	const notes = [isRequired ? 'Required' : '', isChosen ? '' : formOf(field)].filter((note) => note !== '');
	const label = notes.length > 0 ? `${field.label} (${notes.join(', ')})` : field.label;
	return isChosen || field.kind !== 'list' ? label : `${label}: ${severalOf(field)}`;
}

/** How one value is written that is typed in, which nobody has to be told of plain text. */
function formOf({ kind, reference }: Field): string {
	if (kind === 'json') return 'JSON';
	if (kind === 'date') return 'Y-M-D';
	if (kind === 'list') return '';
	return reference === undefined ? '' : 'Name or ID';
}

/** Several values as they are written: with commas. */
function severalOf({ choices = [] }: Field): string {
	if (choices.length === 0) return 'a, b, c';
	const named = choices.slice(0, maxNamed).map(({ value }) => String(value));
	return named.join(', ') + (choices.length > maxNamed ? ', …' : '');
}
