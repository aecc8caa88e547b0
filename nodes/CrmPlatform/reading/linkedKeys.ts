import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { idField, type Field } from '../fields/field';
import { refersToRecords, withReplacedIds } from '../api/openapi/linkFields';
import { valueAt } from '../mapping/expressions/template';
import { lookUp, type IdentifiedRecord } from '../mapping/lookUp';
import { hasText, identifyingFields, textOfName } from '../mapping/names';
import { readParts } from '../mapping/recordParts';

/** Linked records of one kind that are remembered: some 10 MB. */
const maxRemembered = 100_000;

/** Unique values by id; undefined for a record that has none. */
type Keys = Map<unknown, string | undefined>;

/**
 * Replaces the ids of linked records by a value that is unique among them and the same in any account,
 * such as the domain of a company, and those of their parts, such as a stage, by the name: Import File
 * finds the records by it. Each value says its field, as `external_id:100123` does. An id without such a
 * value stays, and a notice says so.
 *
 * @param fields of the records; those that refer to other records are replaced
 * @returns replaces those of some records, and remembers what it has read for the next
 * @throws Error in the user's words where the service does not find records by several ids
 */
export function linkedKeys(
	api: Connection,
	fields: Field[],
): (records: IDataObject[]) => Promise<IDataObject[]> {
	const links = fields.filter(refersToRecords);
	const parts = fields.filter(({ part }) => part !== undefined);
	const remembered = new Map<string, Keys>();
	/** Of parts, by the name of the field. */
	const partNames = new Map<string, Keys>();

	const remember = async (records: IDataObject[]): Promise<void> => {
		const wanted = new Map<string, Set<unknown>>();
		for (const field of links) {
			for (const record of records) {
				withReplacedIds(field, valueAt(record, field.path)[0], (reference, id) => {
					wanted.set(reference, (wanted.get(reference) ?? new Set()).add(id));
					return id;
				});
			}
		}
		for (const [reference, ids] of wanted) {
			const known: Keys = remembered.get(reference) ?? new Map<unknown, string | undefined>();
			if (known.size > maxRemembered) known.clear();
			remembered.set(reference, known);
			const unknown = [...ids].filter((id) => !known.has(id));
			if (unknown.length > 0) await readKeys(api, reference, unknown, known);
		}
		for (const { name, reference = '', part = '', path } of parts) {
			if (partNames.has(name) || !records.some((record) => valueAt(record, path)[0])) continue;
			const all = await readParts(api, reference, part);
			partNames.set(name, new Map(all.map((one) => [one.id, one.isOnly ? textOfName('name', one.name) : undefined])));
		}
	};

	const keyOf = (keys: Keys | undefined, called: string, id: unknown): unknown => {
		const key = keys?.get(id);
		if (key === undefined && id !== null && id !== undefined) api.notices.add(withoutKey(called));
		return key ?? id;
	};
	const keyFor = (field: Field, value: unknown): unknown => {
		if (field.part === undefined) {
			return withReplacedIds(field, value, (reference, id) => keyOf(remembered.get(reference), reference, id));
		}
		return withReplacedIds(field, value, (_, id) => keyOf(partNames.get(field.name), String(field.part), id));
	};
	return async (records) => {
		await remember(records);
		return records.map((record) =>
			[...links, ...parts].reduce((changed, field) => {
				const value: unknown = valueAt(changed, field.path)[0];
				return value === null || value === undefined ? changed : withValue(changed, field.path, keyFor(field, value));
			}, record),
		);
	};
}

async function readKeys(api: Connection, reference: string, ids: unknown[], keys: Keys): Promise<void> {
	const { list, upsert } = (await api.describe(`/${reference}`)) ?? {};
	const unique = (upsert?.match?.values ?? []).filter((name) => identifyingFields.includes(name));
	if (unique.length === 0) return;
	const collection = { api, path: `/v1/${reference}`, list, filters: list?.filters ?? [], fields: unique };
	const outcomeOf = list && (await lookUp({ ...collection, list }, idField, ids));
	for (const id of ids) {
		const outcome = outcomeOf?.(id);
		if (!outcome || 'cannotBeAsked' in outcome) {
			throw new Error(
				`Linked Records: the service cannot find ${reference} by several IDs at once. Choose IDs instead.`,
			);
		}
		const record: IdentifiedRecord | undefined = 'found' in outcome ? outcome.found : undefined;
		const field = record && unique.find((name) => hasText(record[name]));
		keys.set(id, field && textOfName(field, String(record[field]).trim()));
	}
}

const withoutKey = (reference: string): string =>
	`Some linked ${reference} have no unique value by which Import File can find them. The file has their IDs, which other accounts do not know.`;

/** A copy with another value at that place. */
function withValue(record: IDataObject, [name = '', ...rest]: string[], value: unknown): IDataObject {
	const inner = rest.length === 0 ? value : withValue(record[name] as IDataObject, rest, value);
	return { ...record, [name]: inner as IDataObject };
}
