import { customFieldType, type CustomField } from '../schemas/custom-field-type.ts';
import { type JsonSchema, jsonSchema } from '../schemas/json-schema.ts';
import {
	hasCustomFields,
	isImmutable,
	isReadOnly,
	type Resource,
	type StoredRecord,
} from '../schemas/resource.ts';
import { customFieldsOf } from '../store/custom-fields.ts';
import type { StoreView } from '../store/visible-store.ts';
import { itemTitles, titleOf } from './titles.ts';

/** A field of a form, named as in the body that the API takes. */
export interface FormField {
	name: string;
	/** Of its value; with the choices that there are now, and `x-suggestions` where they are many. */
	schema: JsonSchema;
	isRequired: boolean;
	/** Whether the form begins with it. */
	isImportant: boolean;
}

/** As many records are offered as a list; of more, the newest are suggested while somebody types. */
const mostChoices = 50;
const mostSuggestions = 200;

/**
 * What a form for a record asks for.
 *
 * @param stored undefined for a new record
 */
export function formFields(
	store: StoreView,
	resource: Resource,
	stored: StoredRecord | undefined,
): FormField[] {
	const { properties = {}, required = [] } = jsonSchema(resource.input, 'input');
	const names = Object.keys(properties).filter(
		(name) => !isReadOnly(resource, name) && !(stored && isImmutable(resource, name)),
	);
	return names.map((name) => ({
		name,
		schema:
			name === 'custom_fields' && hasCustomFields(resource)
				? customFieldsSchema(store, resource)
				: withChoices(store, properties[name]!),
		isRequired: required.includes(name),
		isImportant: resource.important.includes(name) || name === 'custom_fields',
	}));
}

/** What an action asks for. */
export const actionFields = (store: StoreView, input: Resource['fields']): FormField[] =>
	Object.entries(input).map(([name, type]) => ({
		name,
		schema: withChoices(store, jsonSchema(type, 'input')),
		isRequired: !type.safeParse(undefined).success,
		isImportant: true,
	}));

function customFieldsSchema(store: StoreView, resource: Resource): JsonSchema {
	const fields = [...customFieldsOf(store, resource.name).values()].filter(
		({ read_only: isFixed, archived_at: archivedAt }) => !isFixed && archivedAt === null,
	);
	const properties = fields.map((field) => [field.key, customFieldSchema(store, field)] as const);
	return { title: 'Custom Fields', type: 'object', properties: Object.fromEntries(properties) };
}

/** The schema of a custom field's value, labelled as its definition says. */
export function customFieldSchema(store: StoreView, field: CustomField): JsonSchema {
	// What goes in is any text, which must be an option to come out.
	const schema = jsonSchema(customFieldType(field), 'output');
	const labels = { 'x-enum-labels': labelsOfOptions(field) };
	const { label: title, description } = field;
	return withChoices(store, {
		...schema,
		title,
		description: String(description ?? ''),
		...(schema.enum && labels),
		...(schema.items?.enum && { items: { ...schema.items, ...labels } }),
	});
}

const labelsOfOptions = ({ options }: CustomField) =>
	Object.fromEntries(options.map((option) => [option.value, (option as { label?: string }).label]));

/** Puts in the records that an id can be of, wherever in the schema an id is asked for. */
function withChoices(store: StoreView, schema: JsonSchema): JsonSchema {
	const target = schema['x-resource'];
	if (typeof schema['x-item-of'] === 'string') {
		return { ...schema, ...choiceOfRecords(itemTitles(store, schema['x-item-of'])) };
	}
	if (typeof target !== 'string') return schema;
	const table = store.table(target);
	if (!table) return schema;
	const newest = [{ column: 'id', descending: true }];
	const selection = { conditions: [], order: newest, after: undefined, includeDeleted: false };
	const records = table
		.page({ ...selection, limit: mostSuggestions })
		.map((document) => JSON.parse(document) as StoredRecord);
	const named = records
		.map((record): [string, string] => [record.id, titleOf(table.resource, record)])
		.toSorted(([, one], [, other]) => one.localeCompare(other));
	if (records.length > mostChoices) return { ...schema, 'x-suggestions': Object.fromEntries(named) };
	const choices = choiceOfRecords(named);
	return schema.items ? { ...schema, items: { ...schema.items, ...choices } } : { ...schema, ...choices };
}

const choiceOfRecords = (named: Array<[string, string]>) => ({
	enum: named.map(([id]) => id),
	'x-enum-labels': Object.fromEntries(named),
});
