import type { INodePropertyOptions, ResourceMapperField } from 'n8n-workflow';

import { isRequiredInForm, type Field } from '../fields/field';
import { fieldKinds } from '../fields/fieldKinds';

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
	more: Pick<ResourceMapperField, 'removed'> = {},
): ResourceMapperField {
	const { name, kind } = field;
	const required = isRequiredInForm(field);
	const chosen = kind === 'boolean' ? trueOrFalse : options;
	const mapped: ResourceMapperField = {
		id: name,
		displayName: labelOf(field, chosen !== undefined, required),
		type: chosen ? 'options' : fieldKinds[kind].control,
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

/** How to type in one value; plain text needs no explanation. */
function formOf({ kind, reference }: Field): string {
	return fieldKinds[kind].note ?? (reference === undefined ? '' : 'Name or ID');
}

/** How to type in several values: with commas. */
function severalOf({ choices = [] }: Field): string {
	if (choices.length === 0) return 'a, b, c';
	const named = choices.slice(0, maxNamed).map(({ value }) => String(value));
	return named.join(', ') + (choices.length > maxNamed ? ', …' : '');
}
