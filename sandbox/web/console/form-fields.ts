import type { z } from 'zod/v4';
import { valueAt, getOrCreate } from '../../core/foundation/json.ts';
import { customFieldType } from '../../core/schemas/custom-field-type.ts';
import { type CustomField, customFields } from '../../core/schemas/custom-fields.ts';
import { resources } from '../../core/schemas/index.ts';
import { type JsonSchema, jsonSchema } from '../../core/schemas/json-schema.ts';
import { hasCustomFields, isImmutable, isReadOnly, type Resource, type StoredRecord } from '../../core/schemas/resource.ts';
import { parseRecord } from '../../core/store/records/record-json.ts';
import { customFieldsOf } from '../../core/store/records/custom-fields-of.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import { itemTitles, resourceLabels, resourcesOfObjects, titleOf } from './values.ts';

/** A field of a form, named as in the body that the API takes. */
export interface FormField {
	name: string;
	/** The schema of its value with the current choices. */
	schema: JsonSchema;
	isRequired: boolean;
	/** Whether the form begins with it. */
	isImportant: boolean;
}

/** Up to this many records are offered, the newest; each page has a link that creates a record for the one that it shows. */
const maxChoices = 200;

/**
 * The fields of a form for a record.
 *
 * @param stored undefined for a new record
 * @param query the values of a new record
 */
export function formFields(
	store: StoreView,
	resource: Resource,
	stored: StoredRecord | undefined,
	query = new URLSearchParams(),
): FormField[] {
	const { properties = {}, required = [] } = jsonSchema(resource.input, 'input');
	const names = Object.keys(properties).filter(
		(name) => !isReadOnly(resource, name) && !(stored && isImmutable(resource, name)),
	);
	const custom = hasCustomFields(resource) ? customSchemas(store, resource) : [];
	const all: Array<[name: string, schema: JsonSchema]> = [
		...names.filter((name) => name !== 'custom_fields').map((name): [string, JsonSchema] => [name, properties[name]!]),
		...custom,
	];
	const withChoices = choicesIn(store);
	const schemaOf = (name: string, schema: JsonSchema): JsonSchema => {
		if (name === 'resource' && resource.name === customFields.name) {
			const description = 'Records that get the field.';
			return { ...schema, description, ...choices(customizable(store)) };
		}
		return withChoices(schema, valueAt(stored, name.split('.')) ?? query.get(name));
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
	const withChoices = choicesIn(store);
	return Object.entries(properties).map(([name, schema]) => ({
		name,
		schema: withChoices(schema),
		isRequired: required.includes(name),
		isImportant: true,
	}));
}

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
 * Returns a function that adds records as choices if a schema is a reference. Each record type is read once, because
 * hundreds of custom fields may refer to it.
 */
function choicesIn(store: StoreView) {
	const newest = new Map<string, StoredRecord[]>();
	/** @param value the current value: the record that it refers to is among the choices */
	return (schema: JsonSchema, value?: unknown): JsonSchema => {
		const { 'x-resource': target, 'x-item-of': list, items } = schema;
		if (typeof list === 'string') return { ...schema, ...choices([...itemTitles(store, list)]) };
		const table = typeof target === 'string' && !items ? store.table(target) : undefined;
		if (!table) return schema;
		const records = getOrCreate(newest, table.resource.name, () => table.page({ ...newestFirst, limit: maxChoices }).map(parseRecord));
		const chosen = typeof value === 'string' && !records.some(({ id }) => id === value) ? table.find(value) : undefined;
		const titled = [...records, ...(chosen ? [chosen] : [])].map((record): [string, string] => [record.id, titleOf(table.resource, record)]);
		return { ...schema, ...choices(titled.toSorted(([, a], [, b]) => alphabet.compare(a, b))) };
	};
}

export const newestFirst = { conditions: [], order: [{ column: 'id', descending: true }], after: undefined, includeDeleted: false };

const alphabet = new Intl.Collator();

const choices = (titles: Array<[id: string, title: string]>): Record<string, unknown> =>
	({ enum: titles.map(([id]) => id), 'x-enum-labels': Object.fromEntries(titles) });
