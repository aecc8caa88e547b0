import { batchSchema, type BulkOperation, bulkOperations, targetSchema } from '../../core/schemas/batch.ts';
import { type JsonSchema, jsonSchema } from '../../core/schemas/json-schema.ts';
import { exampleId } from '../../core/schemas/request-examples.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import { capital, namesOf } from '../../core/schemas/names.ts';
import { problemExample } from './problems.ts';

/**
 * The schemas of batches by operation, and of their results.
 *
 * @param schemas the schemas of the resource's own operations, which the items are made of
 */
export function batchSchemas(
	resource: Resource,
	schemas: Record<string, JsonSchema>,
): Record<string, JsonSchema> {
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
			schema: {
				description: 'The record to delete.',
				...target,
				additionalProperties: false,
				example: targetExample,
			},
		},
	};
	const bodies = bulkOperations.map((operation): [string, JsonSchema] => {
		const { name, schema } = items[operation];
		return [
			`${Singular}Batch${capital(operation)}`,
			{
				description: `The ${plural} to ${operation}.`,
				type: 'object',
				properties: { ...members, items: { ...members!['items'], items: ref(name) } },
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

const resultSchema = (One: string, record: { id: string }): JsonSchema => ({
	description: 'The result of each item.',
	type: 'object',
	properties: {
		results: {
			description: 'One result per item, in the order of the items.',
			type: 'array',
			items: {
				type: 'object',
				properties: {
					index: { description: 'The position of the item, from 0.', type: 'integer', minimum: 0 },
					status: { description: 'The HTTP status of this item.', type: 'integer' },
					id: { description: 'The id of the record; null if there is none.', type: ['string', 'null'] },
					data: ref(One),
					error: ref('Problem'),
				},
				required: ['index', 'status', 'id'],
			},
		},
		summary: {
			description: 'The numbers of items in total, succeeded and failed.',
			type: 'object',
			properties: {
				total: { type: 'integer', minimum: 0 },
				succeeded: { type: 'integer', minimum: 0 },
				failed: { type: 'integer', minimum: 0 },
			},
			required: ['total', 'succeeded', 'failed'],
		},
	},
	required: ['results', 'summary'],
	example: {
		results: [
			{ index: 0, status: 200, id: record.id, data: record },
			{ index: 1, status: 409, id: null, error: problemExample('duplicate') },
		],
		summary: { total: 2, succeeded: 1, failed: 1 },
	},
});

const ref = (schema: string): JsonSchema => ({ $ref: `#/components/schemas/${schema}` });
