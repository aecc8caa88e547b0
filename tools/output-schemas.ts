/** The part of JSON Schema with which n8n previews a node's output. */
interface OutputSchema {
	type: string;
	properties?: Record<string, OutputSchema>;
	items?: OutputSchema;
}

/** The part of a resource that is used here. */
export interface Menu {
	value: string;
	/** Absent if the user picks the record type in the form. */
	path?: string;
	operations: Array<{ option: { value: unknown }; output?: OutputSchema | null }>;
}

/** A file that n8n reads beside the node, and its content. */
interface Preview {
	/** The path of the file, relative to the node's folder. */
	file: string;
	schema: OutputSchema;
}

interface Schema {
	$ref?: string;
	type?: string | string[];
	properties?: Record<string, Schema>;
	items?: Schema;
	anyOf?: Schema[];
}

export interface Contract {
	paths: Record<string, { get?: { responses: Record<string, unknown> } }>;
	components: { schemas: Record<string, Schema> };
}

/** Deeper parts of a record are shown without their members. */
const maxDepth = 3;

/**
 * The output previews of every operation: the record that the contract describes, unless the operation
 * has another output.
 */
export function outputSchemas(contract: Contract, menu: Menu[]): Preview[] {
	return menu.flatMap(({ value, path, operations }) => {
		const record = path === undefined ? undefined : recordAt(contract, path);
		return operations.flatMap(({ option, output }) => {
			const schema = output === undefined ? record : output;
			const file = `__schema__/v1.0.0/${value}/${String(option.value)}.json`;
			return schema ? [{ file, schema }] : [];
		});
	});
}

/** An example record of a path; undefined if the contract has none. */
function recordAt(contract: Contract, path: string): OutputSchema | undefined {
	const pathItem = pathItemAt(contract.paths, `${path}/{id}`) ?? pathItemAt(contract.paths, path);
	const response = pathItem?.get?.responses['200'] as { content?: Record<string, { schema?: Schema }> } | undefined;
	const schema = response?.content?.['application/json']?.schema;
	if (!schema) return undefined;
	const record = toOutputSchema(contract, schema, 0);
	const { error, ...others } = record.properties ?? {};
	// The node renames a record's `error`, because n8n would treat it as a failure.
	return error ? { ...record, properties: { ...others, error_info: error } } : record;
}

/** The entry of a path in a contract, whatever its parameters are called. */
export function pathItemAt<T>(paths: Record<string, T>, path: string): T | undefined {
	const shapeOf = (template: string) => template.replace(/\{[^/]*\}/g, '{}');
	return Object.entries(paths).find(([template]) => shapeOf(template) === shapeOf(`/v1${path}`))?.[1];
}

function toOutputSchema(contract: Contract, schema: Schema, depth: number): OutputSchema {
	const resolvedSchema = schema.$ref ? contract.components.schemas[schema.$ref.split('/').at(-1)!]! : schema;
	const nonNullSchema = resolvedSchema.anyOf?.find(({ type }) => type !== 'null');
	if (nonNullSchema) return toOutputSchema(contract, nonNullSchema, depth);
	const [type = 'string'] = [resolvedSchema.type ?? []].flat().filter((typeName) => typeName !== 'null');
	const result: OutputSchema = { type };
	if (depth === maxDepth) return result;
	if (resolvedSchema.items) result.items = toOutputSchema(contract, resolvedSchema.items, depth + 1);
	if (resolvedSchema.properties) {
		const parts = Object.entries(resolvedSchema.properties);
		result.properties = Object.fromEntries(
			parts.map(([name, part]) => [name, toOutputSchema(contract, part, depth + 1)]),
		);
	}
	return result;
}
