import { own } from '../../core/foundation/json.ts';
import { customFieldType, type CustomField } from '../../core/schemas/custom-field-type.ts';
import { customFields } from '../../core/schemas/custom-fields.ts';
import { customObjects, recordsName } from '../../core/schemas/custom-objects.ts';
import { resources } from '../../core/schemas/index.ts';
import { type JsonSchema, jsonSchema } from '../../core/schemas/json-schema.ts';
import {
	hasCustomFields,
	isImmutable,
	isReadOnly,
	type Resource,
	type StoredRecord,
} from '../../core/schemas/resource.ts';
import { customFieldsOf } from '../../core/store/records/custom-fields-of.ts';
import type { StoreView } from '../../core/store/sight/visible-store.ts';
import type { TableView } from '../../core/store/sight/visible-table.ts';
import { itemTitles, resourceLabels, titleOf } from './titles.ts';

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
const maxChoices = 50;
const maxSuggestions = 200;

/** As many items of lists, such as the stages of pipelines, are offered as a list. */
const maxItems = 500;

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
	const withChoices = choicesIn(store);
	const schemaOf = (name: string): JsonSchema => {
		if (name === 'custom_fields' && hasCustomFields(resource)) {
			return customFieldsSchema(store, resource, stored, withChoices);
		}
		if (name === 'resource' && resource.name === customFields.name) {
			const description = 'Records that get the field.';
			return { ...properties[name]!, description, ...offered(customizable(store), Infinity) };
		}
		return withChoices(properties[name]!, stored?.[name]);
	};
	return names.map((name) => ({
		name,
		schema: schemaOf(name),
		isRequired: required.includes(name),
		isImportant: resource.important.includes(name) || name === 'custom_fields',
	}));
}

/** What an action asks for. */
export function actionFields(store: StoreView, input: Resource['fields']): FormField[] {
	const withChoices = choicesIn(store);
	return Object.entries(input).map(([name, type]) => ({
		name,
		schema: withChoices(jsonSchema(type, 'input')),
		isRequired: !type.safeParse(undefined).success,
		isImportant: true,
	}));
}

/** @param value that the record has: what it refers to is named, too, where choices are too many */
type WithChoices = (schema: JsonSchema, value?: unknown) => JsonSchema;

/** The kinds of records that custom fields can be added to, by name. */
const customizable = (store: StoreView): Array<[name: string, label: string]> => {
	const objects = store.table(customObjects.name)!.findAll([], 10_000);
	const ofObjects = objects.map(({ key }) => store.table(recordsName(String(key)))!.resource);
	return [...resources.filter(hasCustomFields), ...ofObjects].map((one) => [
		one.name,
		resourceLabels(store, one).many,
	]);
};

function customFieldsSchema(
	store: StoreView,
	resource: Resource,
	stored: StoredRecord | undefined,
	withChoices: WithChoices,
): JsonSchema {
	const fields = [...customFieldsOf(store, resource.name).values()].filter(
		({ read_only: isFixed, archived_at: archivedAt }) => !isFixed && archivedAt === null,
	);
	const values = stored?.['custom_fields'] as Record<string, unknown> | undefined;
	const properties = fields.map(
		(field) => [field.key, withChoices(customFieldSchema(field), own(values, field.key))] as const,
	);
	return { title: 'Custom Fields', type: 'object', properties: Object.fromEntries(properties) };
}

/** The schema of a custom field's value, labelled as its definition says. */
export function customFieldSchema(field: CustomField): JsonSchema {
	// What goes in is any text, which must be an option to come out.
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
 * Puts in the records that an id can be of, wherever in a schema an id is asked for. Each kind of record is
 * read once, because hundreds of custom fields may refer to it.
 */
function choicesIn(store: StoreView): WithChoices {
	const known = new Map<Resource, Array<[id: string, title: string]>>();
	const recordsIn = (table: TableView) => {
		const records = known.get(table.resource) ?? newestTitles(table);
		known.set(table.resource, records);
		return records;
	};
	return (schema, value) => {
		const target = schema['x-resource'];
		if (typeof schema['x-item-of'] === 'string') {
			return { ...schema, ...offered([...itemTitles(store, schema['x-item-of'])], maxItems) };
		}
		const table = typeof target === 'string' ? store.table(target) : undefined;
		if (!table) return schema;
		const choices = offered(recordsIn(table), maxChoices, namedIn(table, value));
		return schema.items && 'enum' in choices
			? { ...schema, items: { ...schema.items, ...choices } }
			: { ...schema, ...choices };
	};
}

/** The newest records, by title. */
function newestTitles(table: TableView): Array<[id: string, title: string]> {
	const newest = [{ column: 'id', descending: true }];
	const selection = { conditions: [], order: newest, after: undefined, includeDeleted: false };
	return table
		.page({ ...selection, limit: maxSuggestions })
		.map((document) => JSON.parse(document) as StoredRecord)
		.map((record): [string, string] => [record.id, titleOf(table.resource, record)])
		.toSorted(([, one], [, other]) => one.localeCompare(other));
}

/** The records that a value refers to, by title. */
const namedIn = (table: TableView, value: unknown): Array<[id: string, title: string]> =>
	[value ?? []].flat().flatMap((id): Array<[string, string]> => {
		const record = table.find(String(id));
		return record ? [[record.id, titleOf(table.resource, record)]] : [];
	});

/** Records to choose from: a list of all of them, or suggestions if they are many. */
const offered = (
	named: Array<[id: string, title: string]>,
	most: number,
	chosen: Array<[id: string, title: string]> = [],
): Record<string, unknown> =>
	named.length > most
		? { 'x-suggestions': Object.fromEntries([...named, ...chosen]) }
		: { enum: named.map(([id]) => id), 'x-enum-labels': Object.fromEntries(named) };
