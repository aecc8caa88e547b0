import { withoutParameterNames } from '../api/http/path';
import { ruleBroken } from '../api/http/rules';
import type { EventCatalog } from '../api/openapi/eventTypes';
import { allCustomFields } from '../fields/field';
import type { Cause } from '../log/cause';
import { type CrmEvent, type EventMeaning, isErased, meaningOfType } from '../log/crmEvent';
import { eventName, hasField } from '../log/eventFields';
import type { Resource } from '../model';
import { versionNumber } from '../writing/versions';
import { explain, type Explanation } from './reasons';
import type { UndoFields } from './undoFields';
import type { UndoChoices } from './undoForm';

/** Identifies a record among the records of all types. */
export const recordKey = ({ collection, id }: { collection: string; id: string }): string => `${collection}/${id}`;

/** What events of a type mean to an undo. */
export interface UndoMeaning extends EventMeaning {
	/** Whether the records that they are about are left out of it. */
	isIgnored: boolean;
	/** Why these records cannot be undone. */
	problem?: Explanation | undefined;
}

/** An event of the log, as an undo sees it. */
export interface LoggedEvent {
	event: CrmEvent;
	meaning: UndoMeaning;
	cause: Cause;
	/** Of its record; empty if it has none. */
	id: string;
	/** Identifies its record among the records of all types. */
	key: string;
	/** The fields of its record, if changes of this record type are to be undone. */
	fields: UndoFields | undefined;
	by: 'changes to undo' | 'others' | 'this undo';
}

/** The record type of a collection; undefined for setup, and for events whose type is not described. */
export const undoableResource = (template: string, { undoableTypes }: UndoChoices): Resource | undefined =>
	undoableTypes.find(({ path }) => withoutParameterNames(path) === withoutParameterNames(template));

export function undoMeaning(type: string, catalog: EventCatalog, choices: UndoChoices): UndoMeaning {
	const undescribed = `/events/${type}` as const;
	const meaning = meaningOfType(catalog, type) ?? { kind: type, collection: undescribed, template: undescribed };
	const resource = undoableResource(meaning.template, choices);
	const isChosen = choices.recordTypes.length === 0 || (resource !== undefined && choices.recordTypes.includes(resource.value));
	const isSentMessage = meaning.kind === 'message' && meaning.change !== 'updated';
	const problem = !resource ? explain('setupChange') : isSentMessage ? explain('sentMessage') : undefined;
	// A job stays as a record of what was done. What it wrote has events of its own.
	return { ...meaning, isIgnored: !isChosen || (!resource && meaning.template === '/jobs'), problem };
}

/** @throws Error in the user's words if an event of a record lacks the version, the previous values or the cause */
export function refuseIncomplete(event: CrmEvent, { change, isIgnored, problem }: UndoMeaning, cause: Cause): void {
	const { type, sequence, data: { object, previous, changed } } = event;
	if (change === undefined || isIgnored || problem || isErased(event)) return;
	const refuse = (rule: number, lack: string) => {
		throw ruleBroken(rule, `Event ${sequence} of the log (${type})`, `${lack} Nothing was written.`);
	};
	if (versionNumber(object) === undefined) refuse(12, 'The record in it has no version.');
	const isNamed = (name: string) => eventName(name) === name && name !== allCustomFields;
	if (!changed.every(isNamed)) refuse(15, 'It names a part of a field, or all custom fields at once, as changed.');
	const hasValues = previous !== null && changed.length > 0 && changed.every((name) => hasField(previous, name));
	if (change === 'updated' && !hasValues) refuse(15, 'It does not have the previous values of the changed fields.');
	if (!cause.isRequestKnown) refuse(15, 'It does not say which request caused it.');
}
