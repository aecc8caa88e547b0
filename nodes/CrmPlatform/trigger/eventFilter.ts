import type { CrmEvent } from '../api/event';

/** Which of the events the user wants. */
export interface EventFilter {
	/** Names as in the event; any if empty. */
	changedFields: string[];
	/** The values a field of the record may have; any if empty. */
	equal: Record<string, string[]>;
}

/** Whether an event passes every filter. */
export function passesFilter({ data }: CrmEvent, { changedFields, equal }: EventFilter): boolean {
	const { object, previous, changed } = data;
	const isOther = Object.entries(equal).some(
		([field, values]) => values.length > 0 && !values.includes(String(object[field])),
	);
	if (isOther) return false;
	if (changedFields.length === 0 || previous === null) return true;
	return changed.some((name) => changedFields.some((wanted) => covers(wanted, name)));
}

/** `custom_fields` means each of them. */
const covers = (wanted: string, name: string): boolean =>
	name === wanted || name.startsWith(`${wanted}.`);
