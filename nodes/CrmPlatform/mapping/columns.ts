import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { customFields } from '../api/customFields';
import type { Field } from '../api/fields';
import type { Job } from '../model';
import { itemPath, valueAt } from './itemPath';
import { apiValue } from './values';

/** What n8n's resource mapper stores. */
interface Mapping {
	mappingMode: string;
	value: Record<string, unknown> | null;
	matchingColumns?: string[];
}

/** The values of one input item, as the service takes them. */
export type ReadColumns = (item: number) => IDataObject;

/**
 * Reads the mapper `parameter`: by hand (what was left blank is not sent, an expression that gives
 * nothing clears the field) or automatically (the item's own values, those the service knows).
 *
 * @param fields what the service takes
 * @param empty what an empty value does: `clear` sends null, `skip` sends nothing
 */
export async function columnsOf(
	job: Job,
	parameter: string,
	fields: Field[],
	empty: 'clear' | 'skip',
): Promise<ReadColumns> {
	const { n8n, api, resource } = job;
	const raw = mappingOf(n8n, parameter);
	const zone = n8n.getTimezone();

	const body = (given: Array<[Field, unknown]>): IDataObject => {
		const values: IDataObject = {};
		for (const [field, what] of given) {
			const value = apiValue(field, what, zone);
			if (value !== null || empty === 'clear') put(values, field.path, value);
		}
		return values;
	};

	if (raw.mappingMode === 'autoMapInputData') {
		const items = n8n.getInputData();
		return (item) => {
			const json = items[item]?.json ?? {};
			const all = fields.map((field): [Field, unknown] => [field, valueOf(json, field)]);
			return body(all.filter(([, value]) => value !== undefined));
		};
	}

	const filled = Object.entries(raw.value ?? {}).filter(
		([, given]) => given !== null && given !== undefined && given !== '',
	);
	const known = await fieldsNamed(api, resource.path, fields, filled);
	const readers = filled.flatMap(([name, given]) => {
		const field = known.get(name);
		return field ? [{ field, read: reader(n8n, given) }] : [];
	});
	return (item) => body(readers.map(({ field, read }) => [field, read(item)]));
}

/** Reads what a user gave for a field: a constant, a value of the item, or an expression. */
function reader(n8n: IExecuteFunctions, given: unknown): (item: number) => unknown {
	if (typeof given !== 'string' || !given.startsWith('=')) return () => given;
	const path = itemPath(given);
	if (!path) return (item) => n8n.evaluateExpression(given.slice(1), item);
	const items = n8n.getInputData();
	return (item) => valueAt(items[item]?.json ?? {}, path);
}

/** The field the user chose to match on (upsert). */
export function matchingColumn(job: Job, parameter: string): string | undefined {
	return mappingOf(job.n8n, parameter).matchingColumns?.[0];
}

/** The mapping as it is stored: its expressions are evaluated for each item, and not before. */
function mappingOf(n8n: IExecuteFunctions, parameter: string): Mapping {
	return n8n.getNodeParameter(parameter, 0, {}, { rawExpressions: true }) as unknown as Mapping;
}

/** Fields by name. What the service no longer has is left out, and the user is told. */
async function fieldsNamed(
	api: Connection,
	path: string,
	fields: Field[],
	filled: Array<[string, unknown]>,
): Promise<Map<string, Field>> {
	const names = filled.map(([name]) => name);
	const custom = names.some((name) => name.startsWith('custom_fields.'))
		? await customFields(api, path)
		: [];
	const known = new Map([...fields, ...custom].map((field) => [field.name, field]));
	for (const name of names.filter((one) => !known.has(one))) {
		api.notices.add(
			`The service does not take the field ${name} (any more), so it was not sent. Open the node and refresh its fields.`,
		);
	}
	return known;
}

/**
 * Records carry more than can be written: ids, times, counters. Only what the service takes is
 * read, flat (`address.street`) or as part of a whole object (`address: {…}`).
 */
function valueOf(json: IDataObject, field: Field): unknown {
	return json[field.name] ?? valueAt(json, field.path);
}

function put(body: IDataObject, path: string[], value: unknown): void {
	const [key = '', ...rest] = path;
	if (rest.length === 0) body[key] = value as IDataObject;
	else put((body[key] ??= {}) as IDataObject, rest, value);
}
