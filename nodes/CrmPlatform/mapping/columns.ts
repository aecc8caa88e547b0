import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { customFields } from '../api/customFields';
import type { Field } from '../api/fields';
import type { Job } from '../model';
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
	const raw = n8n.getNodeParameter(parameter, 0, {}, { rawExpressions: true }) as unknown as Mapping;
	const zone = n8n.getTimezone();

	const body = (given: Field[], valueOf: (field: Field) => unknown): IDataObject => {
		const values: IDataObject = {};
		for (const field of given) {
			const value = apiValue(field, valueOf(field), zone);
			if (value !== null || empty === 'clear') put(values, field.path, value);
		}
		return values;
	};

	if (raw.mappingMode === 'autoMapInputData') {
		const items = n8n.getInputData();
		return (item) => {
			const json = items[item]?.json ?? {};
			const present = fields.filter((field) => valueOf(json, field) !== undefined);
			return body(present, (field) => valueOf(json, field));
		};
	}

	const names = Object.entries(raw.value ?? {})
		.filter(([, given]) => given !== null && given !== undefined && given !== '')
		.map(([name]) => name);
	const mapped = await fieldsNamed(api, resource.path, fields, names);
	return (item) => {
		const { value } = n8n.getNodeParameter(parameter, item, {}) as unknown as Mapping;
		return body(mapped, (field) => value?.[field.name]);
	};
}

/** The field the user chose to match on (upsert). */
export function matchingColumn(job: Job, parameter: string): string | undefined {
	const mapping = job.n8n.getNodeParameter(parameter, 0, {}) as unknown as Mapping;
	return mapping.matchingColumns?.[0];
}

/** Fields by name. What the service no longer has is left out, and the user is told. */
async function fieldsNamed(
	api: Connection,
	path: string,
	fields: Field[],
	names: string[],
): Promise<Field[]> {
	const isCustom = (name: string) => name.startsWith('custom_fields.');
	const all = names.some(isCustom) ? [...fields, ...(await customFields(api, path))] : fields;
	return names.flatMap((name) => {
		const field = all.find((known) => known.name === name);
		if (!field) {
			api.notices.add(
				`The service does not take the field ${name} (any more), so it was not sent. Open the node and refresh its fields.`,
			);
		}
		return field ?? [];
	});
}

/**
 * Records carry more than can be written: ids, times, counters. Only what the service takes is
 * read, flat (`address.street`) or as part of a whole object (`address: {…}`).
 */
function valueOf(json: IDataObject, field: Field): unknown {
	if (json[field.name] !== undefined) return json[field.name];
	return field.path.reduce<unknown>(
		(value, key) =>
			typeof value === 'object' && value !== null ? (value as IDataObject)[key] : undefined,
		json,
	);
}

function put(body: IDataObject, path: string[], value: unknown): void {
	const [key = '', ...rest] = path;
	if (rest.length === 0) body[key] = value as IDataObject;
	else put((body[key] ??= {}) as IDataObject, rest, value);
}
