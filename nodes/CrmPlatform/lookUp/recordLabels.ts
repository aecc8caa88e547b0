import type { IDataObject, INodeListSearchItems } from 'n8n-workflow';

import { occurrences } from '../base/maps';
import { recordName, firstText } from '../api/recordName';

/**
 * The list item of a record: its title, and details that distinguish it from others with the same title.
 *
 * @param value the field whose value is picked
 * @param company the name of the company it belongs to
 */
export function listItem(record: IDataObject, value = 'id', company?: string): INodeListSearchItems {
	const id = String(record[value]);
	const name = recordName(record);
	const content = firstText(record, contentFields)?.slice(0, maxCharacters);
	const details = [
		firstText(record, ['email', 'domain']),
		company,
		amountOf(record),
		firstText(record, ['status', 'state']),
		numberOf(record),
		name === undefined ? dateOf(record) : undefined,
	];
	const parts = [name ?? content, ...details].filter((part) => part !== undefined);
	return { name: [...new Set(parts)].join(' – ') || id, value: id };
}

/** The list items of records; items with equal names also show the creation time. */
export function distinctListItems(
	records: IDataObject[],
	value: string,
	companies: Map<unknown, string>,
): INodeListSearchItems[] {
	const items = records.map((record) => listItem(record, value, companies.get(record.company_id)));
	const counts = occurrences(items.map(({ name }) => name));
	return items.map((item, i) => {
		const date = dateOf(records[i] ?? {});
		const isAlone = counts.get(item.name) === 1 || date === undefined;
		return isAlone ? item : { ...item, name: `${item.name} – ${date}` };
	});
}

/** The fields whose first characters replace a missing name. */
const contentFields = ['url', 'body', 'text', 'event_type', 'type', 'operation'];
/** Maximum number of those characters. */
const maxCharacters = 60;

function amountOf({ amount, currency }: IDataObject): string | undefined {
	if (typeof amount !== 'number' && !(typeof amount === 'string' && amount !== '')) return undefined;
	const number = Number.isNaN(Number(amount)) ? amount : Number(amount).toLocaleString('en');
	return [number, currency].filter((part) => typeof part === 'string').join(' ');
}

function numberOf({ number }: IDataObject): string | undefined {
	return typeof number === 'number' || (typeof number === 'string' && number !== '') ? `#${number}` : undefined;
}

/** `2026-03-14 09:26`; undefined for a record without a time. */
function dateOf(record: IDataObject): string | undefined {
	const time = firstText(record, ['created_at', 'createdAt', 'timestamp']);
	return time?.slice(0, 16).replace('T', ' ');
}
