import { z } from 'zod/v4';
import { omit, getOrCreate } from '../foundation/json.ts';

/** The subset of JSON Schema 2020-12 that this service uses. */
export interface JsonSchema extends Record<string, unknown> {
	title?: string;
	description?: string;
	type?: string | string[];
	format?: string;
	enum?: unknown[];
	properties?: Record<string, JsonSchema>;
	required?: string[];
	items?: JsonSchema;
	additionalProperties?: JsonSchema | boolean;
	examples?: unknown[];
	readOnly?: boolean;
}

/**
 * Converts a zod schema to simple JSON Schema: `type` lists instead of `anyOf` of different types, no pattern where a
 * format says the same, no bounds that only exclude unsafe integers.
 *
 * @param io `input` for what a client may send, `output` for what it receives
 */
export const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Readonly<JsonSchema> =>
	getOrCreate(convertedSchemas[io], schema, () => tidy(omit(z.toJSONSchema(schema, { io }) as JsonSchema, '$schema'), io));

const convertedSchemas = { input: new WeakMap<z.ZodType, JsonSchema>(), output: new WeakMap<z.ZodType, JsonSchema>() };

/** A reference to a component of the OpenAPI document. */
export const componentRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** The components of the document: every schema that has an id, by that id. */
export function namedSchemas(): Record<string, JsonSchema> {
	const { schemas } = z.toJSONSchema(z.globalRegistry, { io: 'output', uri: (name) => componentRef(name).$ref });
	return Object.fromEntries(
		Object.entries(schemas).map(([name, schema]) => [name, tidy(omit(schema as JsonSchema, '$schema', '$id', 'id'), 'output')]),
	);
}

export const typesOf = (schema: JsonSchema): string[] => [schema.type ?? []].flat();

/** A copy of a schema that also allows null. */
export function nullable(schema: JsonSchema): JsonSchema {
	const types = typesOf(schema);
	if (types.includes('null')) return schema;
	const options = schema.enum && { enum: [...schema.enum, null] };
	return { ...schema, type: [...types, 'null'], ...options };
}

/** A copy of a schema that does not allow null. */
export function notNull(schema: JsonSchema): JsonSchema {
	const types = typesOf(schema).filter((type) => type !== 'null');
	const options = schema.enum && { enum: schema.enum.filter((option) => option !== null) };
	return { ...schema, type: types.length === 1 ? types[0]! : types, ...options };
}

const describedByFormat = ['date', 'date-time', 'email'];

function tidy(schema: JsonSchema, io: 'input' | 'output'): JsonSchema {
	const { anyOf, default: standard, propertyNames: _, pattern, minimum, maximum, ...base } = schema;
	const options = ((anyOf ?? []) as JsonSchema[]).map((option) => tidy(option, io));
	const isNullable = options.some(({ type }) => type === 'null');
	const isChoice = new Set(options.flatMap(typesOf)).size < options.length;
	const merged = isChoice ? [{ anyOf: options }] : options;
	const result: JsonSchema = merged.reduceRight((rest, option) => ({ ...option, ...rest }), base);
	if (options.length > 0 && !isChoice) result.type = options.flatMap(typesOf);
	if (result.title && result.enum) result['x-enum-labels'] = choiceLabels(result.enum);
	if (isNullable && result.enum) result.enum = [...result.enum, null];
	if (pattern && !describedByFormat.includes(result.format ?? '')) result.pattern = pattern;
	if (typeof standard === 'boolean') result.default = standard;
	if (minimum !== Number.MIN_SAFE_INTEGER && minimum !== undefined) result.minimum = minimum;
	if (maximum !== Number.MAX_SAFE_INTEGER && maximum !== undefined) result.maximum = maximum;
	if (result.items) result.items = tidy(result.items, io);
	if (typeof result.additionalProperties === 'object') {
		result.additionalProperties = tidy(result.additionalProperties, io);
	}
	// Later versions may add fields to responses.
	if (io === 'output' && result.additionalProperties === false) delete result.additionalProperties;
	// The property names of such an object are not known in advance.
	if (result.properties && Object.keys(result.properties).length === 0) delete result.properties;
	if (result.properties) {
		result.properties = Object.fromEntries(
			Object.entries(result.properties).map(([name, property]) => {
				return [name, tidy(property.title === '' ? { ...property, title: fieldTitle(name) } : property, io)];
			}),
		);
	}
	return inReadingOrder(result);
}

/** Labels that differ from the words of the option. */
const properNames: Record<string, string> = {
	cancelled: 'Canceled',
	datetime: 'Date and Time',
	follow_up: 'Follow-Up',
	html: 'HTML',
	no_show: 'No-Show',
	sms: 'SMS',
	url: 'URL',
	webchat: 'Web Chat',
	whatsapp: 'WhatsApp',
};

/** The label of each option: `on_hold` is On Hold. */
const choiceLabels = (options: unknown[]): Record<string, string> =>
	Object.fromEntries(
		options.filter((option) => typeof option === 'string')
			.map((option) => [option, properNames[option] ?? inTitleCase(option)]),
	);

const acronyms: Record<string, string> = { id: 'ID', url: 'URL', html: 'HTML', sms: 'SMS' };

/** The title of a field: `company_id` is Company, `tag_ids` is Tags. */
export const fieldTitle = (name: string): string =>
	name.replace(/(.)_id$/, '$1').replace(/_ids$/, 's').split('_').map((word) => acronyms[word] ?? inTitleCase(word)).join(' ');

const inTitleCase = (option: string): string =>
	option.replace(/(^|[-_])(\w)/g, (_, gap, letter: string) => (gap && ' ') + letter.toUpperCase());

function inReadingOrder(schema: JsonSchema): JsonSchema {
	const { title, description, type, format, enum: options, example, ...rest } = schema;
	const first = { title, description, type, format, enum: options };
	const definedEntries = Object.entries(first).filter(([, value]) => value !== undefined);
	return { ...Object.fromEntries(definedEntries), ...rest, ...(example !== undefined && { example }) };
}
