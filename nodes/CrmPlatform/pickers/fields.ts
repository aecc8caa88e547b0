import type { ILoadOptionsFunctions, ResourceMapperField, ResourceMapperFields } from 'n8n-workflow';

import { customFields } from '../api/customFields';
import type { Field, FieldKind } from '../api/fields';
import { opened } from './opened';

/** The fields the chosen operation takes, and which of them can be matched on. */
export async function getFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const { api, resource, description, operation } = await opened(this);
	const write = operation?.write?.(description);
	if (!write) throw new Error(`The service does not offer this for ${resource.path}.`);

	const custom = write.fields.some(({ name }) => name === 'custom_fields')
		? await customFields(api, resource.path)
		: [];
	// Defined one by one, they need no entry as a whole.
	const own = write.fields.filter(({ name }) => name !== 'custom_fields' || custom.length === 0);
	const fields = [...own, ...custom].map((field) => mapperField(field, write.match?.values));
	const [notice] = api.notices;
	return notice === undefined ? { fields } : { fields, emptyFieldsNotice: notice };
}

/** The values a list can be filtered by. */
export async function getFilters(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const { description } = await opened(this);
	return { fields: (description.list?.filters ?? []).map((filter) => mapperField(filter)) };
}

const types: Record<FieldKind, NonNullable<ResourceMapperField['type']>> = {
	text: 'string',
	number: 'number',
	// A switch would be written as false by opening the node; a list can be left blank.
	boolean: 'options',
	date: 'dateTime',
	dateTime: 'dateTime',
	choice: 'options',
	// With commas, and JSON as text: the editor n8n has for arrays and objects marks a blank as wrong.
	list: 'string',
	json: 'string',
};

const trueOrFalse = [
	{ name: 'True', value: true },
	{ name: 'False', value: false },
];

function mapperField(field: Field, matchable: string[] = []): ResourceMapperField {
	const { name, kind, required, choices } = field;
	const mapped: ResourceMapperField = {
		id: name,
		displayName: labelOf(field),
		type: types[kind],
		required,
		display: true,
		canBeUsedToMatch: matchable.includes(name),
		defaultMatch: matchable[0] === name,
	};
	if (kind === 'boolean') mapped.options = trueOrFalse;
	if (choices) {
		// Several choices, where a field takes them, are given by an expression.
		mapped.type = 'options';
		mapped.options = choices.map((choice) => ({ name: choice.label, value: choice.value }));
	}
	return mapped;
}

/** n8n shows no description beside a mapped field, so its label says what to write. */
function labelOf({ label, kind, reference, choices }: Field): string {
	if (kind === 'list' && !choices) return `${label} (Comma-Separated)`;
	if (kind === 'json') return `${label} (JSON)`;
	return reference === undefined ? label : `${label} (ID)`;
}
