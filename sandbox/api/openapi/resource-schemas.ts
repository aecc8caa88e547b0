import { exampleOf, inputSchema } from '../endpoint/input-schema.ts';
import { componentRef, type JsonSchema, jsonSchema, nullable } from '../../core/schemas/json-schema.ts';
import { createExample, updateExample, exampleId } from '../../core/schemas/request-examples.ts';
import { isImmutable, type Resource } from '../../core/schemas/resource.ts';
import { capital, namesOf } from '../../core/schemas/names.ts';
import { z } from 'zod/v4';
import { batchSchema, type BulkOperation, bulkOperations, targetSchema } from '../../core/schemas/batch.ts';
import { problemExample } from './error-responses.ts';

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

/**
 * The schemas of batches by operation, and of their results.
 *
 * @param schemas the schemas of the resource's operations, from which the schemas of the items are built
 */
function batchSchemas(resource: Resource, schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
	const { Singular, plural } = namesOf(resource);
	const { properties: members } = jsonSchema(batchSchema, 'input');
	const target = jsonSchema(targetSchema, 'input');
	const targetExample = { id: exampleId(resource.idPrefix) };
	const update = schemas[`${Singular}Update`]!;
	const items: Record<BulkOperation, { name: string; schema: JsonSchema }> = {
		create: { name: `${Singular}Create`, schema: schemas[`${Singular}Create`]! },
		upsert: { name: `${Singular}Upsert`, schema: schemas[`${Singular}Upsert`]! },
		update: {
			name: `${Singular}BatchUpdateItem`,
			schema: {
				...update,
				properties: { ...target.properties, ...update.properties },
				required: ['id'],
				example: { ...targetExample, ...(update['example'] as object) },
			},
		},
		delete: {
			name: `${Singular}BatchDeleteItem`,
			schema: { description: 'The record to delete.',...target, additionalProperties: false, example: targetExample },
		},
	};
	const bodies = bulkOperations.map((operation): [string, JsonSchema] => {
		const { name, schema } = items[operation];
		return [
			`${Singular}Batch${capital(operation)}`,
			{
				description: `The ${plural} to ${operation}.`,
				type: 'object',
				properties: { ...members, items: { ...members!['items'], items: componentRef(name) } },
				required: ['items'],
				additionalProperties: false,
				example: { items: [schema['example']], atomic: false },
			},
		];
	});
	return {
		[items.update.name]: items.update.schema,
		[items.delete.name]: items.delete.schema,
		...Object.fromEntries(bodies),
		[`${Singular}BatchResult`]: resultSchema(Singular, schemas[Singular]!['example'] as { id: string }),
	};
}

const count = z.int().min(0);

const resultSchema = (Singular: string, record: { id: string }): JsonSchema => jsonSchema(z.object({
	results: z.array(z.object({
		index: count.meta({ description: 'The position of the item, from 0.' }),
		status: z.int().meta({ description: 'The HTTP status of this item.' }),
		id: z.string().nullable().meta({ description: 'The id of the record; null if there is none.' }),
		data: z.any().optional().meta(componentRef(Singular)),
		error: z.any().optional().meta(componentRef('Problem')),
	})).meta({ description: 'One result per item, in the order of the items.' }),
	summary: z.object({ total: count, succeeded: count, failed: count }).meta({
		description: 'The numbers of items in total, succeeded and failed.',
	}),
}).meta({
	description: 'The result of each item.',
	example: {
		results: [
			{ index: 0, status: 200, id: record.id, data: record },
			{ index: 1, status: 409, id: null, error: problemExample('duplicate') },
		],
		summary: { total: 2, succeeded: 1, failed: 1 },
	},
}), 'output');
