import type { IDataObject } from 'n8n-workflow';

import { idText, isObject } from '../base/json';
import { wholeNumber } from '../base/numbers';

/** The service's answer about one item. */
export interface ItemAnswer {
	/** The ID as text, whether the service writes it as a text or as a number. */
	id: string | undefined;
	status: number;
	data: IDataObject | undefined;
	error: unknown;
}

/**
 * The answers in the body of a response (rule 13), by the index of their item. If they contradict themselves (rule 20), none
 * of them counts: an index that is missing, is no item's or comes twice; an answer without a status; the ID of another
 * record; one new record for two items. The outcome of an item without an answer is reported as unknown.
 *
 * @param areNew whether each item becomes a record of its own
 */
export function answersByItem(body: unknown, items: IDataObject[], areNew: boolean): Map<number, ItemAnswer> {
	const results: unknown[] = isObject(body) && Array.isArray(body.results) ? body.results : [];
	const answers = new Map<number, ItemAnswer>();
	const created = new Set<string>();
	for (const result of results) {
		// Parsed by hand: for 100,000 answers, zod takes as long as all requests.
		const { index: place, status: code, id: ownId, data, error } = isObject(result) ? result : {};
		const [index, status] = [wholeNumber(place), wholeNumber(code)];
		const record = isObject(data) ? data : undefined;
		const id = idText(ownId) ?? idText(record?.id);
		const item = items[index ?? -1];
		if (index === undefined || status === undefined || !item || answers.has(index)) return new Map();
		const itemId = idText(item.id);
		if (itemId !== undefined && id !== undefined && id !== itemId) return new Map();
		if (areNew && id !== undefined && status < 300) {
			if (created.has(id)) return new Map();
			created.add(id);
		}
		answers.set(index, { id, status, data: record, error });
	}
	return answers;
}
