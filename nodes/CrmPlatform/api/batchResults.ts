import type { IDataObject } from 'n8n-workflow';

import { idText, isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import { wholeNumber } from '../base/numbers';
import { saysError } from './http/problemBody';

/** The service's answer about one item. */
export interface ItemAnswer {
	index: number | undefined;
	/** The ID as text, whether the service writes it as a text or as a number. */
	id: string | undefined;
	status: number;
	data: IDataObject | undefined;
	/** The error beside the record: `error` or `errors`. */
	error: unknown;
	/** The answer without its id. */
	body: unknown;
}

/**
 * The answers in the body of a response, each with the index of its item. An answer belongs to the item with its id. If
 * items have no ids, it belongs to the item at its index, provided that the indexes make sense together; if no answer
 * has an id or an index, answers are in the order of the items. An answer that contradicts itself or another one is
 * dropped; the outcome of its item is reported as unknown.
 *
 * @param areNew whether each item becomes a record of its own
 */
export function answersByItem(body: unknown, items: IDataObject[], areNew: boolean): Array<[item: number, answer: ItemAnswer]> {
	const rawAnswers: unknown[] = isObject(body) && Array.isArray(body.results) ? body.results : [];
	const answers = rawAnswers.map(answerIn);
	const readable = answers.filter((answer) => answer !== null);
	const itemIds = items.map(({ id }) => idText(id));
	const itemsOf = groupBy(items.keys(), (item) => itemIds[item]);
	const hasIds = itemsOf.size > 0;
	const answersOf = groupBy(readable, ({ id }) => id);
	const areIndexed = indexesAgree(readable, items.length);
	const areInOrder =
		readable.length === rawAnswers.length &&
		readable.length === items.length &&
		readable.every(({ index, id }) => index === undefined && (!hasIds || id === undefined));

	const matched = readable.flatMap((answer, order): Array<[number, ItemAnswer]> => {
		const { id, index } = answer;
		const itemsWithId = itemsOf.get(id);
		const answersWithId = answersOf.get(id);
		if (itemsWithId && answersWithId) {
			if (index !== undefined && itemsWithId.includes(index)) return [[index, answer]];
			// Answers without an index for several items of one record come in order.
			const isClear =
				answersWithId.length === itemsWithId.length &&
				(itemsWithId.length === 1 || answersWithId.every((other) => other.index === undefined));
			return isClear ? [[itemsWithId[answersWithId.indexOf(answer)] ?? 0, answer]] : [];
		}
		if (areIndexed && index !== undefined) {
			return id !== undefined && itemIds[index] !== undefined ? [] : [[index, answer]];
		}
		return areInOrder ? [[order, answer]] : [];
	});
	return unambiguous(withOwnValues(areNew ? withOwnRecords(matched) : matched, items));
}

/** Parsed by hand: for 100,000 answers, zod takes as long as all requests. */
function answerIn(json: unknown): ItemAnswer | null {
	if (!isObject(json)) return null;
	const { data } = json;
	const status = wholeNumber(json.status, -Infinity);
	const index = wholeNumber(json.index, -Infinity);
	const hasIndex = (json.index ?? undefined) !== undefined;
	if (status === undefined || (hasIndex && index === undefined)) return null;
	const record = isObject(data) ? data : undefined;
	const { id, ...body } = json;
	return { index, id: idText(id) ?? idText(record?.id), status, data: record, error: errorIn(json), body };
}

/** The error of a result, from `error` or `errors`, in a form that can be read like a body. */
function errorIn({ error, errors }: IDataObject): unknown {
	return saysError(error) || !saysError(errors) ? error : { errors };
}

/** Whether the indexes are credible: each is the index of an item, counted from 0, and none is repeated. */
function indexesAgree(answers: ItemAnswer[], items: number): boolean {
	const indexes = answers.flatMap(({ index }) => index ?? []);
	const areItems = indexes.every((index) => index >= 0 && index < items);
	return areItems && new Set(indexes).size === indexes.length;
}

/** Drops answers that assign the same new record to several items. */
function withOwnRecords(matched: Array<[item: number, answer: ItemAnswer]>) {
	// A refused item may name the record that exists already.
	const idOf = ([, { id, status }]: [number, ItemAnswer]) => (status >= 200 && status < 300 ? id : undefined);
	const byId = groupBy(matched, idOf);
	return matched.filter((entry) => (byId.get(idOf(entry) ?? '')?.length ?? 0) < 2);
}

/**
 * Drops answers whose record has the values of another item in the fields that distinguish the items: the service may
 * use another order, or count from 1.
 */
function withOwnValues(matched: Array<[item: number, answer: ItemAnswer]>, items: IDataObject[]) {
	const distinctive = Object.keys(items[0] ?? {}).flatMap((name) => {
		const texts = items.map((values) => valueText(values, name));
		const itemByText = new Map(texts.map((text, item) => [text, item]));
		return itemByText.has(undefined) || itemByText.size < items.length ? [] : [{ name, itemByText }];
	});
	// Two items for one record both return its final values.
	const same = groupBy(matched, ([, { id }]) => id);
	return matched.filter(([item, { data, id }]) => {
		if (!data || (same.get(id ?? '')?.length ?? 0) > 1) return true;
		const owners = distinctive.flatMap(({ name, itemByText }) => itemByText.get(valueText(data, name)) ?? []);
		return owners.length === 0 || owners.includes(item);
	});
}

function valueText(record: IDataObject, name: string): string | undefined {
	const value = Object.hasOwn(record, name) ? record[name] : undefined;
	return typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : undefined;
}

/** Drops items with several answers. */
function unambiguous(matched: Array<[item: number, answer: ItemAnswer]>): Array<[number, ItemAnswer]> {
	return [...groupBy(matched, ([item]) => item).values()].filter(({ length }) => length === 1).flat();
}

/** Groups the items that have a key. */
function groupBy<Item, Key>(all: Iterable<Item>, keyOf: (item: Item) => Key | undefined): Map<Key | undefined, Item[]> {
	const groups = new Map<Key | undefined, Item[]>();
	for (const item of all) {
		const key = keyOf(item);
		if (key === undefined) continue;
		getOrCreate(groups, key, () => []).push(item);
	}
	return groups;
}
