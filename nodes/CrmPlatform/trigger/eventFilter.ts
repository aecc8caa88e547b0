import { sameValue } from '../fields/recordComparison';
import { isIgnored, type IgnoredOrigins } from '../log/cause';
import { type CrmEvent, isErased } from '../log/crmEvent';
import { fieldValue } from '../log/eventFields';
import { type OnlyIf, verdictOfEvent } from './onlyIf';

export interface EventFilter {
	/** The changed fields, by their names in the event; any if empty. */
	changedFields: string[];
	/** The values a field of the record may have; any if empty. */
	equal: Record<string, string[]>;
	/** The originators whose changes are ignored; all changes count if absent. */
	ignored?: IgnoredOrigins | undefined;
	onlyIf?: OnlyIf | undefined;
}

/** The filter that an event does not pass, in the user's words; undefined if it passes all. */
export function failedFilter(event: CrmEvent, { changedFields, equal, ignored, onlyIf }: EventFilter): string | undefined {
	if (ignored && isIgnored(event, ignored)) return 'the change was made by an ignored workflow or user';
	if (onlyIf && verdictOfEvent(event, onlyIf) === 'no') return 'the record does not match Only If';
	const { object, previous, changed } = event.data;
	const [other] = Object.entries(equal).find(([field, values]) => values.length > 0 && !values.includes(String(object[field]))) ?? [];
	// Whose record an erased one was is unknown.
	if (other !== undefined && !isErased(event)) return `the record’s ${other} is not one of those chosen`;
	if (changedFields.length === 0 || previous === null) return undefined;
	const isOtherNow = (part: string) => !sameValue(undefined, fieldValue(previous, part), fieldValue(object, part));
	const isChanged = changed.some((name) => changedFields.some((field) => covers(field, name) || (covers(name, field) && isOtherNow(field))));
	return isChanged ? undefined : 'none of the Changed Fields has changed';
}

/** Whether a field contains the changed one: `custom_fields` contains each custom field. */
const covers = (field: string, name: string): boolean => name === field || name.startsWith(`${field}.`);
