import { exampleOf, inputSchema } from '../endpoint/input-schema.ts';
import { componentRef, type JsonSchema, jsonSchema, nullable } from '../../core/schemas/json-schema.ts';
import { createExample, updateExample } from '../../core/schemas/request-examples.ts';
import { isImmutable, type Resource } from '../../core/schemas/resource.ts';
import { batchSchemas } from './batch-schemas.ts';
import { capital, namesOf } from '../../core/schemas/names.ts';

/** The schemas of one resource: record, list, and the bodies of writes and batches. */
export function resourceSchemas(resource: Resource): Record<string, JsonSchema> {
	const { Singular, singular, plural, withArticle } = namesOf(resource);
	const { properties = {}, required = [] } = jsonSchema(resource.input, 'input');
	const writable = Object.entries(properties);
	// An absent field keeps its value, so its default does not apply.
	const changeable = writable.map(([name, { default: _, ...schema }]): [string, JsonSchema] => [
		name,
		required.includes(name) ? schema : nullable(schema),
	]);
	const mutable = changeable.filter(([name]) => !isImmutable(resource, name));
	const schemas: Record<string, JsonSchema> = {
		[Singular]: {
			description: `${capital(withArticle)}.`,
			type: 'object',
			properties: resource.properties,
			// A token that may write but not read gets only the id and the version.
			required: ['id'],
			example: exampleOf(Object.entries(resource.properties)),
		},
		[`${Singular}Create`]: inputSchema(
			`The values of a new ${singular}.`,
			writable,
			required,
			createExample(resource, writable),
		),
		[`${Singular}Update`]: inputSchema(
			'A merge patch (RFC 7396): null clears a field, absent fields keep their values.',
			mutable,
			[],
			updateExample(resource, mutable),
		),
		[`${Singular}Upsert`]: inputSchema(
			`A merge patch for the matching ${singular}, or the values of a new one.`,
			changeable,
			[],
			createExample(resource, changeable),
		),
		[`${Singular}List`]: pageSchema(Singular, plural),
	};
	return { ...schemas, ...batchSchemas(resource, schemas) };
}

/** The schema of a page of a list. */
export const pageSchema = (schema: string, plural: string): JsonSchema => ({
	description: `One page of ${plural}.`,
	type: 'object',
	properties: {
		data: { type: 'array', items: componentRef(schema) },
		next_cursor: { description: 'The cursor of the next page; null on the last page.', type: ['string', 'null'] },
		total: {
			description: `The number of ${plural} that match the filters, on all pages.`,
			type: 'integer',
			minimum: 0,
		},
	},
	required: ['data', 'next_cursor', 'total'],
});
