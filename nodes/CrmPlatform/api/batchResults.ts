import type { IDataObject } from 'n8n-workflow';

import { idText, isObject } from './http/json';

/** The outcome of one record, as the service states it. */
export interface ItemAnswer {
	index: number | undefined;
	/** As text, whether the service writes it as a text or as a number. */
	id: string | undefined;
	status: number;
	data: IDataObject | undefined;
	error: unknown;
	/** The result without its id. */
	body: unknown;
}

/**
 * The results of an answer with the places of their items. A result belongs to the item with its id. Where
 * items have none, it belongs to the one at its index, provided that the indexes make sense together, or, if no
 * result says anything of this, comes in the order of the items. A result that contradicts itself or another
 * one belongs to no item; the outcome of that item is reported as unknown.
 *
 * @param areNew whether each item becomes a record of its own
 */
export function answersByItem(body: unknown, items: IDataObject[], areNew = false): Array<[place: number, result: ItemAnswer]> {
	const rawResults: unknown[] = isObject(body) && Array.isArray(body.results) ? body.results : [];
	const results = rawResults.map(resultIn);
	const readable = results.filter((result) => result !== null);
	const placesOf = groupBy(items.keys(), (place) => idText(items[place]?.id));
	const hasIds = placesOf.size > 0;
	const resultsOf = groupBy(readable, ({ id }) => id);
	const areIndexed = indexesAgree(readable, items.length);
	const areInOrder =
		readable.length === rawResults.length &&
		readable.length === items.length &&
		readable.every(({ index, id }) => index === undefined && (!hasIds || id === undefined));

	const placed = readable.flatMap((result, order): Array<[number, ItemAnswer]> => {
		const { id, index } = result;
		const places = id === undefined ? undefined : placesOf.get(id);
		const same = id === undefined ? undefined : resultsOf.get(id);
		if (places && same) {
			const isNamed = areIndexed && index !== undefined && places.includes(index);
			if (isNamed) return [[index, result]];
			// Results without an index for several items of one record come in order.
			const isClear = same.length === places.length && (places.length === 1 || same.every((other) => other.index === undefined));
			return isClear ? [[places[same.indexOf(result)] ?? 0, result]] : [];
		}
		if (areIndexed && index !== undefined) {
			const other = idText(items[index]?.id);
			return id !== undefined && other !== undefined ? [] : [[index, result]];
		}
		return areInOrder ? [[order, result]] : [];
	});
	return once(withOwnValues(areNew ? withOwnRecords(placed) : placed, items));
}

/** Parsed by hand: for 100,000 results, zod takes as long as all requests. */
function resultIn(json: unknown): ItemAnswer | null {
	if (!isObject(json)) return null;
	const { data, error } = json;
	const status = wholeNumber(json.status);
	const index = json.index === undefined || json.index === null ? undefined : wholeNumber(json.index);
	const isUnreadable = json.index !== undefined && json.index !== null && index === undefined;
	if (status === undefined || isUnreadable) return null;
	const record = typeof data === 'object' && data !== null ? (data as IDataObject) : undefined;
	const { id, ...body } = json;
	return { index, id: idText(id) ?? idText(record?.id), status, data: record, error, body };
}

const wholeNumber = (value: unknown): number | undefined => {
	const number = typeof value === 'string' && /^-?\d{1,9}$/.test(value.trim()) ? Number(value) : value;
	return Number.isInteger(number) ? (number as number) : undefined;
};

/** Whether indexes are credible: each is that of an item, counted from 0, and none is repeated. */
function indexesAgree(results: ItemAnswer[], items: number): boolean {
	const indexes = results.flatMap(({ index }) => index ?? []);
	const areItems = indexes.every((index) => index >= 0 && index < items);
	return areItems && new Set(indexes).size === indexes.length;
}

/** Drops results that assign the same new record to several items. */
function withOwnRecords(placed: Array<[place: number, result: ItemAnswer]>) {
	// A refused item may name the record that exists already.
	const idOf = ([, { id, status }]: [number, ItemAnswer]) => (status >= 200 && status < 300 ? id : undefined);
	const byId = groupBy(placed, idOf);
	return placed.filter((entry) => (byId.get(idOf(entry) ?? '')?.length ?? 0) < 2);
}

/**
 * Drops results whose record has the values of another item, in the fields that distinguish the items: the
 * service may answer in an order of its own, or count from 1.
 */
function withOwnValues(placed: Array<[place: number, result: ItemAnswer]>, items: IDataObject[]) {
	const telling = Object.keys(items[0] ?? {}).flatMap((name) => {
		const values = items.map((item) => valueText(item, name));
		const places = new Map(values.map((value, place) => [value, place]));
		return places.has(undefined) || places.size < items.length ? [] : [{ name, places }];
	});
	// Two items for one record both return its final values.
	const same = groupBy(placed, ([, { id }]) => id);
	return placed.filter(([place, { data, id }]) => {
		if (!data || (same.get(id ?? '')?.length ?? 0) > 1) return true;
		const owners = telling.flatMap(({ name, places }) => places.get(valueText(data, name)) ?? []);
		return owners.length === 0 || owners.includes(place);
	});
}

function valueText(record: IDataObject, name: string): string | undefined {
	const value = Object.hasOwn(record, name) ? record[name] : undefined;
	return typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : undefined;
}

/** Drops places with several results. */
function once(placed: Array<[place: number, result: ItemAnswer]>): Array<[number, ItemAnswer]> {
	const byPlace = groupBy(placed, ([place]) => place);
	return placed.filter(([place]) => byPlace.get(place)?.length === 1);
}

function groupBy<Item, Key>(all: Iterable<Item>, keyOf: (item: Item) => Key | undefined): Map<Key, Item[]> {
	const groups = new Map<Key, Item[]>();
	for (const item of all) {
		const key = keyOf(item);
		if (key === undefined) continue;
		const group = groups.get(key);
		if (group) group.push(item);
		else groups.set(key, [item]);
	}
	return groups;
}
