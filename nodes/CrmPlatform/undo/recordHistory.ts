import type { IDataObject } from 'n8n-workflow';

import type { CrmEvent } from '../log/crmEvent';
import type { EventMeaning } from '../log/crmEvent';
import { isObject } from '../base/json';
import { allCustomFields, customKeyOf } from '../fields/field';
import { fieldEntries, fieldValue, hasField, topLevelName } from './changedField';
import { addEquivalentFields, type EquivalentFields } from './equivalentFields';
import { noteChangeByOthers, withChangeToUndo, type FieldHistory } from './fieldHistory';
import { possibleIdsIn } from './recordIds';
import type { RecordState } from './recordState';
import { hasSameValue } from './sameValue';

/** A record that an undo has created in place of a deleted one. */
export interface Recreation {
	id: string;
	/** Its state when it was created. */
	state: RecordState;
	/** Its state according to the last event, whoever caused it. */
	newest: RecordState;
	/** Whether its creation is to be undone, too. */
	isToBeUndone: boolean;
	/** Whether it was changed after its creation. */
	isChanged: boolean;
	isGone: boolean;
}

/** The changes of one record. */
export interface RecordHistory extends Pick<EventMeaning, 'recordType' | 'collection' | 'template'> {
	id: string;
	name?: string;
	/** Whether its creation is to be undone. */
	isCreated: boolean;
	/** The fields that the changes to undo have changed, by the names that events give them. */
	fields: Map<string, FieldHistory>;
	equivalentFields?: EquivalentFields;
	/** The deletion of the record, if it is to be undone. */
	deletion?: { event: string; record: IDataObject; isCauseReported: boolean };
	/** The records that undos have created in its place, the earliest first. */
	recreations: Recreation[];
	/** For a record that a second undo created: the first one, which stays. */
	duplicateOf?: { id: string; recreation: Recreation };
	/** Its state after the last change to undo. */
	state: RecordState;
	/** Its state according to the last event, whoever caused it. */
	newest: RecordState;
	/** Sequence of the last change to undo. */
	sequence: number;
	/** Whether someone else has changed it since its creation. */
	isChangedByOthers: boolean;
	/** Why it cannot be undone. */
	problem?: string;
}

export const newHistory = ({ recordType, collection, template }: EventMeaning, id: string): RecordHistory => ({
	recordType,
	collection,
	template,
	id,
	isCreated: false,
	fields: new Map(),
	recreations: [],
	state: {},
	newest: {},
	sequence: 0,
	isChangedByOthers: false,
});

/** Adds an update that is to be undone. */
export function addUpdateToUndo(history: RecordHistory, { sequence, data: { object, previous, changed } }: CrmEvent): void {
	// Some services list only a part of the changed fields in `changed`, and all of them in `previous`.
	const differing = fieldEntries(previous ?? {}).flatMap(([name, value]) =>
		hasField(object, name) && !hasSameValue(value, fieldValue(object, name)) ? [name] : [],
	);
	const unlisted = differing.filter((name) => !changed.includes(topLevelName(name)));
	const names = new Set(changed.length > 0 ? [...changed, ...unlisted] : Object.keys(previous ?? {}));
	if (names.size === 0) history.problem = noPreviousValues;
	const changedFields: Parameters<typeof addEquivalentFields>[1] = [];
	for (const name of names) {
		if (!previous || !hasField(previous, name)) {
			history.problem = noPreviousValues;
			continue;
		}
		const [before, after] = [fieldValue(previous, name) ?? null, fieldValue(object, name) ?? null];
		const isPartial = isObject(before) && isObject(after) && Object.keys(after).some((member) => !Object.hasOwn(before, member));
		if (isPartial) history.problem = partOfPreviousValue(name);
		const field = withChangeToUndo(history.fields.get(name), sequence, { before, after });
		field.isOmitted = isOmitted(object, name);
		history.fields.set(name, field);
		changedFields.push([name, { before, after }]);
	}
	addEquivalentFields(history, changedFields);
}

/** Adds a change that someone else made. */
export function addChangeByOthers(history: RecordHistory, { sequence, data }: CrmEvent, { change }: EventMeaning): void {
	const { object, previous, changed } = data;
	history.isChangedByOthers = true;
	// A record that is created again gets the values that it had when it was deleted.
	if (change === 'deleted') return;
	for (const [name, field] of history.fields) {
		if (changed.length > 0 && !changed.includes(name)) continue;
		const hasPreviousValue = previous !== null && hasField(previous, name);
		field.isOmitted = hasPreviousValue && isOmitted(object, name);
		const hasBothValues = hasPreviousValue && hasField(object, name);
		const values = hasBothValues ? { before: fieldValue(previous, name), after: fieldValue(object, name) } : undefined;
		noteChangeByOthers(field, sequence, values);
	}
}

/** Whether a record has custom fields, but not this one: a service may leave out empty ones. */
const isOmitted = (record: IDataObject, name: string): boolean =>
	customKeyOf(name) !== undefined && isObject(record[allCustomFields]) && !hasField(record, name);

/** Returns a function that checks whether a value contains the id of a record whose deletion is to be undone. */
export function linksToDeletedRecords(histories: RecordHistory[]): (value: unknown) => boolean {
	const deletedIds = new Set(histories.flatMap(({ deletion, isCreated, id }) => (deletion && !isCreated ? [id] : [])));
	return (value) => possibleIdsIn(value).some((id) => deletedIds.has(id));
}

export const partOfRecord = 'The CRM reports only a part of the record that was deleted.';
const noPreviousValues = 'The CRM does not report the previous values.';
const partOfPreviousValue = (name: string) => `The CRM reports only a part of the previous value of ${name}.`;
