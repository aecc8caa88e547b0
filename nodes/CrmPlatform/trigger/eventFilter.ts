import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import type { Connection } from '../api/connection';
import { allFilters, currentFields, customFieldsIfAny } from '../api/customFields';
import { isObject } from '../base/json';
import { defined } from '../base/ownMembers';
import { whyRefused } from '../fields/checks';
import { comparedBy, conditionOf, verdictOf, type Condition, type Verdict } from '../fields/condition';
import { sameValue } from '../fields/recordComparison';
import { isIgnored } from '../log/cause';
import { commonMeaning, type CrmEvent, isErased, statesOf } from '../log/crmEvent';
import { fieldValue } from '../log/eventFields';
import { queriesOf, readFilters } from '../mapping/filters';
import { collectionPath } from '../mapping/locator';
import { filtersProperty } from '../parameters/listParameters';
import { resourceAt } from '../resources';
import { parseBoolean } from '../values/parsers';
import { isStartedByN8n, type PublishContext, readingOf } from './triggerContext';
import { booleanProperty } from '../parameters/properties';

export const onlyIfProperties: INodeProperties[] = [
	filtersProperty({
		displayName: 'Only If',
		name: 'onlyIf',
		description: 'Conditions that the record must meet, read when the workflow is published. If one cannot be decided, the workflow starts.',
	}),
	booleanProperty('Only If It Was Not Before', 'becomesTrue', true, 'Whether only changes that make Only If true start the workflow'),
];

/** The conditions of a trigger, as resolved when it was published. */
export const onlyIfSchema = z.object({
	entered: z.string(),
	/** A record must meet all conditions of one alternative. */
	alternatives: z.array(z.array(z.custom<Condition>(isObject))),
	/** Whether it must not have met them before the event. */
	becomesTrue: z.boolean(),
});

export type OnlyIf = z.infer<typeof onlyIfSchema>;

/** The events that start the workflow, among those of the chosen types. */
const eventFilterSchema = z.object({
	/** The changed fields, by their names in the event; any if empty. */
	changedFields: z.array(z.string()),
	/** The values a field of the record may have; any if empty. */
	equal: z.record(z.array(z.string())),
	/** The originators whose changes are ignored; all changes count if absent. */
	ignored: z.object({
		origins: z.array(z.object({ instance: z.string(), workflow: z.string().optional(), isUndo: z.boolean().optional() })),
		users: z.array(z.string()),
	}).optional(),
	onlyIf: onlyIfSchema.optional(),
});

type EventFilter = z.infer<typeof eventFilterSchema>;

/** Which events start the workflow: types and patterns, sorted and without duplicates, and what they must pass. */
export const eventChoiceSchema = z.object({ events: z.array(z.string()), filter: eventFilterSchema });

export type EventChoice = z.infer<typeof eventChoiceSchema>;

function enteredOnlyIf(n8n: PublishContext): string | undefined {
	const raw = (name: string) => n8n.getNodeParameter(name, null, { rawExpressions: true });
	const rows = raw('filters.onlyIf.rows');
	return Array.isArray(rows) && rows.length > 0 ? JSON.stringify([raw('events'), rows, raw('filters.becomesTrue')]) : undefined;
}

/**
 * Reads the conditions, with IDs for names. If n8n itself starts the trigger, stored ones apply: a record may have been renamed.
 *
 * @throws Error in the user's words if the events are not about records of one type, and as readFilters does
 */
export async function readOnlyIf(n8n: PublishContext, api: Connection, events: string[], stored?: OnlyIf): Promise<OnlyIf | undefined> {
	const entered = enteredOnlyIf(n8n);
	if (entered === undefined) return undefined;
	if (isStartedByN8n(n8n) && stored?.entered === entered) return stored;
	const meaning = commonMeaning(events, await api.describeEvents());
	const resource = meaning && resourceAt(meaning.template);
	const description = resource && (await api.describe(resource.path));
	if (!resource || !description?.list) throw new Error('Only If needs events of one record type. Choose such events, or remove Only If.');
	const { list, fields } = description;
	const run = readingOf(n8n, api, resource, { objectKey: meaning.typeName.replace(/^[^.]*\./, '') });
	const custom = currentFields(await customFieldsIfAny(api, collectionPath(run, 0), fields));
	const filters = allFilters(list, custom);
	const [rows] = await readFilters(run, 'filters.onlyIf', list);
	const alternatives = queriesOf(rows!).map((query) =>
		Object.entries(query).map(([parameter, value]): Condition => {
			const filter = filters.find(({ name }) => name === parameter);
			// Get Many would report what the service refuses; here, the workflow would never start.
			const problem = filter && comparedBy(parameter).comparison === 'is' ? whyRefused(filter, value) : undefined;
			if (problem !== undefined) throw new Error(`Only If: ${problem}`);
			const condition = conditionOf(parameter, value, filter, [...fields, ...custom]);
			const { name, label, path, kind, items, lowerCase, isUrl, linksTo, target } = condition.field;
			// Without choices and descriptions, which the stored state need not have.
			const field = defined({ name, label, path, kind, items, lowerCase, isUrl, linksTo, target });
			return { ...condition, field, isAlwaysListed: fields.some((other) => other.name === path[0]) };
		}),
	);
	const becomesTrue = parseBoolean('Only If It Was Not Before', n8n.getNodeParameter('filters.becomesTrue', false));
	return { entered, alternatives, becomesTrue };
}

export function verdictOfEvent(event: CrmEvent, { alternatives, becomesTrue }: OnlyIf): Verdict {
	if (isErased(event)) return 'maybe';
	const { object, previous } = event.data;
	const now = verdictOf(object, alternatives);
	if (!becomesTrue || now === 'no' || event.type.endsWith('.created')) return now;
	const isUnknown = previous === null && !event.type.endsWith('.deleted');
	const before = isUnknown ? 'maybe' : verdictOf(statesOf(event)[0]!, alternatives);
	if (before === 'no') return now;
	return before === 'yes' ? 'no' : 'maybe';
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
