import type { z } from 'zod/v4';
import { valueAt } from '../../core/foundation/json.ts';
import { customFieldType } from '../../core/schemas/custom-field-type.ts';
import { type CustomField, customFields } from '../../core/schemas/custom-fields.ts';
import { resources } from '../../core/schemas/index.ts';
import { type JsonSchema, jsonSchema } from '../../core/schemas/json-schema.ts';
import { hasCustomFields, isImmutable, isReadOnly, type Resource, type StoredRecord } from '../../core/schemas/resource.ts';
import { customFieldsOf } from '../../core/store/records/custom-fields-of.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import type { TableView } from '../../core/store/visibility/visible-table.ts';
import { itemTitles, resourceLabels, resourcesOfObjects, shortTitle, titleFields, titleOf } from './titles.ts';

/** A field of a form, named as in the body that the API takes. */
export interface FormField {
	name: string;
	/** The schema of its value with the current choices, or with `x-suggestions` if there are many. */
	schema: JsonSchema;
	isRequired: boolean;
	/** Whether the form begins with it. */
	isImportant: boolean;
}

/** Up to this many records are offered as a list. If there are more, the newest are suggested during typing. */
const maxChoices = 50;
const maxSuggestions = 200;

/** Up to this many items, such as the stages of pipelines, are offered as a list. */
const maxItems = 500;

/**
 * The fields of a form for a record.
 *
 * @param stored undefined for a new record
 */
export function formFields(store: StoreView, resource: Resource, stored: StoredRecord | undefined): FormField[] {
	const { properties = {}, required = [] } = jsonSchema(resource.input, 'input');
	const names = Object.keys(properties).filter(
		(name) => !isReadOnly(resource, name) && !(stored && isImmutable(resource, name)),
	);
	const custom = hasCustomFields(resource) ? customSchemas(store, resource) : [];
	const all: Array<[name: string, schema: JsonSchema]> = [
		...names.filter((name) => name !== 'custom_fields').map((name): [string, JsonSchema] => [name, properties[name]!]),
		...custom,
	];
	const withChoices = choicesIn(store, all.map(([, schema]) => schema));
	const schemaOf = (name: string, schema: JsonSchema): JsonSchema => {
		if (name === 'resource' && resource.name === customFields.name) {
			const description = 'Records that get the field.';
			return { ...schema, description, ...choicesSchema(customizable(store), Infinity) };
		}
		return withChoices(schema, valueAt(stored, name.split('.')));
	};
	return all.map(([name, schema]) => ({
		name,
		schema: schemaOf(name, schema),
		isRequired: required.includes(name),
		isImportant: resource.important.includes(name) || name.startsWith('custom_fields.'),
	}));
}

/** The fields that an action asks for. */
export function actionFields(store: StoreView, input: z.ZodObject): FormField[] {
	const { properties = {}, required = [] } = jsonSchema(input, 'input');
	const withChoices = choicesIn(store, Object.values(properties));
	return Object.entries(properties).map(([name, schema]) => ({
		name,
		schema: withChoices(schema),
		isRequired: required.includes(name),
		isImportant: true,
	}));
}

/** Records with their titles. */
type TitledRecords = Array<[id: string, title: string]>;

/** @param value the record's value: the records that it refers to are among the suggestions */
type WithChoices = (schema: JsonSchema, value?: unknown) => JsonSchema;

/** The record types to which custom fields can be added, by name. */
const customizable = (store: StoreView): Array<[name: string, label: string]> =>
	[...resources.filter(hasCustomFields), ...resourcesOfObjects(store)].map((resource) => [
		resource.name,
		resourceLabels(store, resource).plural,
	]);

/** The custom fields in a form, with their schemas. */
const customSchemas = (store: StoreView, { name }: Resource): Array<[name: string, schema: JsonSchema]> =>
	[...customFieldsOf(store, name).values()]
		.filter(({ read_only: isFixed, archived_at: archivedAt }) => !isFixed && archivedAt === null)
		.map((field) => [`custom_fields.${field.key}`, customFieldSchema(field)]);

/** The schema of a custom field's value, labeled as its definition says. */
export function customFieldSchema(field: CustomField): JsonSchema {
	// The output schema lists the options; the input may be any text.
	const schema = jsonSchema(customFieldType(field), 'output');
	const labels = { 'x-enum-labels': labelsOfOptions(field) };
	const { label: title, description } = field;
	return {
		...schema,
		title,
		description: String(description ?? ''),
		...(schema.enum && labels),
		...(schema.items?.enum && { items: { ...schema.items, ...labels } }),
	};
}

const labelsOfOptions = ({ options }: CustomField) =>
	Object.fromEntries(options.map((option) => [option.value, (option as { label?: string }).label]));

/**
 * Adds records as choices wherever one of these schemas is a reference. Each record type is read once,
 * because hundreds of custom fields may refer to it.
 */
function choicesIn(store: StoreView, schemas: JsonSchema[]): WithChoices {
	const targetOf = ({ 'x-resource': target, 'x-item-of': list, items }: JsonSchema) =>
		typeof target === 'string' && typeof list !== 'string' && !items ? target : undefined;
	const targets = [...new Set(schemas.map(targetOf).filter((target) => target !== undefined))];
	const titlesByTarget = new Map(targets.map((target) => [target, newestTitles(store, target)]));
	return (schema, value) => {
		if (typeof schema['x-item-of'] === 'string') {
			return { ...schema, ...choicesSchema([...itemTitles(store, schema['x-item-of'])], maxItems) };
		}
		const target = targetOf(schema);
		const table = target === undefined ? undefined : store.table(target);
		if (!table) return schema;
		return { ...schema, ...choicesSchema(titlesByTarget.get(target!)!, maxChoices, referencedRecord(table, value)) };
	};
}

const alphabet = new Intl.Collator();

/** The newest records, by title. */
function newestTitles(store: StoreView, target: string): TitledRecords {
	const table = store.table(target);
	if (!table) return [];
	const fields = titleFields(table.resource);
	return table.newestTexts(fields, maxSuggestions).map(({ id, text }): [string, string] => [id, shortTitle(text)])
		.toSorted(([, a], [, b]) => alphabet.compare(a, b));
}

/** The record that a value refers to, with its title. */
function referencedRecord(table: TableView, id: unknown): TitledRecords {
	const record = typeof id === 'string' ? table.find(id) : undefined;
	return record ? [[record.id, titleOf(table.resource, record)]] : [];
}

/** Records to choose from: a list of all of them, or suggestions if there are many. */
const choicesSchema = (records: TitledRecords, maxOptions: number, chosen: TitledRecords = []): Record<string, unknown> =>
	records.length > maxOptions
		? { 'x-suggestions': Object.fromEntries([...records, ...chosen]) }
		: { enum: records.map(([id]) => id), 'x-enum-labels': Object.fromEntries(records) };
