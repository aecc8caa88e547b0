import type { CrmEvent } from '../log/crmEvent';
import { isIgnored, type IgnoredOrigins } from '../log/cause';

export interface EventFilter {
	/** The changed fields, by their names in the event; any if empty. */
	changedFields: string[];
	/** The values a field of the record may have; any if empty. */
	equal: Record<string, string[]>;
	/** The originators whose changes are ignored; all changes count if absent. */
	ignored?: IgnoredOrigins | undefined;
}

export function passesFilter(event: CrmEvent, { changedFields, equal, ignored }: EventFilter): boolean {
	if (ignored && isIgnored(event, ignored)) return false;
	const { object, previous, changed } = event.data;
	const isOther = Object.entries(equal).some(
		([field, values]) => values.length > 0 && !values.includes(String(object[field])),
	);
	if (isOther) return false;
	if (changedFields.length === 0 || previous === null) return true;
	return changed.some((name) => changedFields.some((field) => covers(field, name)));
}

/** Whether a field contains the changed one: `custom_fields` contains each custom field. */
const covers = (field: string, name: string): boolean =>
	name === field || name.startsWith(`${field}.`);
