import { isExpression, validateFieldType, type INodePropertyOptions, type ResourceMapperField } from 'n8n-workflow';

import { isRequiredInForm, type Field } from '../fields/field';
import { fieldKinds, valueShape } from '../fields/fieldKinds';

const trueOrFalse = [
	{ name: 'True', value: true },
	{ name: 'False', value: false },
];

/** Maximum number of choices in the label of a list, for a model. */
const maxNamed = 8;

/** Maximum characters of a label that n8n shows. */
const maxShown = 26;

/**
 * Converts a field to an entry of n8n's resource mapper.
 *
 * @param options the values to choose from, if there is a list of them
 * @param more whether the form hides the field at first
 * @param isTool whether a model fills it in, which sees labels only, and all of them
 */
export function mapperField(
	field: Field,
	options: INodePropertyOptions[] | undefined,
	more: Partial<Pick<ResourceMapperField, 'removed' | 'required'>> = {},
	isTool = false,
): ResourceMapperField {
	const { name, kind } = field;
	const required = isRequiredInForm(field);
	const chosen = fieldKinds[kind].type === 'boolean' ? trueOrFalse : options;
	const mapped: ResourceMapperField = {
		id: name,
		displayName: labelOf(field, chosen !== undefined, required, isTool),
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

/**
 * A field of a form that accepts its stored value. A name typed before the form had a list, a deleted record and a
 * removed choice become one more entry: n8n refuses to start a workflow with a value that its form does not accept,
 * even if the node or the service understands it.
 */
export function acceptingStored(field: ResourceMapperField, stored: unknown): ResourceMapperField {
	const { id, type, options } = field;
	const isPlain = typeof stored === 'string' || typeof stored === 'number' || typeof stored === 'boolean';
	if (!type || !isPlain || isExpression(stored)) return field;
	if (validateFieldType(id, stored, type, { valueOptions: options ?? [] }).valid) return field;
	if (!options) return { ...field, type: 'string' };
	return { ...field, options: [...options, { name: String(stored) || 'Empty', value: stored }] };
}

/** The values that the description of a field lists. */
export function choiceOptions({ choices }: Field): INodePropertyOptions[] | undefined {
	return choices?.map(({ label, value }) => ({ name: label, value }));
}

/**
 * The label says what to write, since n8n shows no description beside a mapped field, and a model sees only the label.
 * n8n cuts it after some 25 characters.
 */
function labelOf(field: Field, isChosen: boolean, isRequired: boolean, isTool: boolean): string {
	const notes = [isRequired ? 'Required' : '', isChosen ? '' : formOf(field, isTool)].filter((note) => note !== '');
	const label = notes.length > 0 ? `${field.label} (${notes.join(', ')})` : field.label;
	return isChosen || valueShape(field) !== 'list' ? label : `${label}: ${severalOf(field, isTool ? Infinity : maxShown - label.length - 2)}`;
}

/** The format of one value. Plain text needs no explanation, and people need none for the name of a linked record. */
function formOf({ kind, collection }: Field, isTool: boolean): string {
	return fieldKinds[kind].formatHint ?? (collection === undefined || !isTool ? '' : 'Name or ID');
}

/** The format of several values: with commas, if the label has room. */
function severalOf({ choices = [] }: Field, room: number): string {
	if (choices.length === 0) return 'comma-separated';
	const named = choices.slice(0, maxNamed).map(({ label }) => label);
	const upTo = (count: number) => [...named.slice(0, count), ...(count < choices.length ? ['…'] : [])].join(', ');
	let count = named.length;
	while (count > 0 && upTo(count).length > room) count -= 1;
	return count === 0 ? 'comma-separated' : upTo(count);
}
