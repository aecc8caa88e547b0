import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { openEventLog } from '../log/eventLog';
import type { ResourceDescription } from '../api/openapi/description';
import type { Execution, Resource } from '../model';
import { readCurrentRecords } from './currentRecords';
import { LiveLinks } from './liveLinks';
import { PlanFields, type Descriptions } from './planFields';
import { LoggedChanges } from './loggedChanges';
import type { RecordHistory } from './recordHistory';
import type { RecordUndo } from './recordUndo';
import { resolveLinks } from './resolveLinks';
import { readUndoChoices, type UndoChoices } from './undoChoices';
import { checkMaximum, planUndo, withLinkedRecordsKept } from './undoPlan';
import { UndoOrder } from './undoOrder';
import { UndoWriter } from './undoWriter';
import { writableFieldsOf } from './writableFields';
import { warnIfUnprotected } from './undoRequests';

/**
 * Undoes what an execution, a workflow or a user has written: reads the log, compares it with the current records,
 * and writes the previous values unless it is a preview.
 *
 * @param undoableTypes the record types whose changes can be undone
 * @throws Error in the user's words if the log cannot be read or does not reach back; nothing is written then
 * @throws NodeApiError if the service stops answering; the next undo continues
 */
export async function undoChanges(execution: Execution, item: number, undoableTypes: Resource[]): Promise<IDataObject[]> {
	const { api } = execution;
	const choices = readUndoChoices(execution, item, undoableTypes);
	const log = await openEventLog(api);
	api.requireDescription('Undo');
	const logged = await LoggedChanges.read(execution, log, choices, undoableTypes);
	const { histories } = logged;
	const chosenHistories = await chooseHistories(logged, choices, api.notices);
	if (chosenHistories.length === 0) return [];

	const current = await readCurrentRecords(api, chosenHistories);
	const descriptions = await describeCollections(api, chosenHistories);
	const fields = await PlanFields.read(api, descriptions, chosenHistories);
	const writableFields = new Map(
		[...descriptions].map(([collection, description]) => [collection, writableFieldsOf(execution, description, fields.customFieldsOf(collection))]),
	);
	const linkedAfterUndo = (undos: RecordUndo[]) => histories.linkedAfterUndo(undos, choices.takesPrecedence);
	const planned = planUndo(chosenHistories, { ...choices, current, writableFields }, linkedAfterUndo);
	const links = new LiveLinks(fields, planned);
	await links.lookUp(api, planned);

	const resolved = planned.map((undo) => (links.waitsForCreation(undo) ? undo : resolveLinks(undo, links, fields)));
	const resolvedPlan = withLinkedRecordsKept(resolved, linkedAfterUndo);
	checkMaximum(resolvedPlan, choices, api.notices);
	await logged.catchUp();
	if (choices.isPreview) {
		warnIfUnprotected(execution, descriptions, resolvedPlan);
		api.notices.add('Preview: nothing was written. Turn off Preview to undo these changes.');
		return logged.withLateChanges(resolvedPlan).map((undo) => outputItem(undo, true));
	}
	logged.refuseIfGrowing();
	const writer = new UndoWriter(execution, fields, links, planned);
	const undone = await new UndoOrder(choices, logged, writer).run();
	return logged.withLateChanges(undone).map((undo) => outputItem(undo, false));
}

/** The histories of the records to undo. Tells the user about records for which no changes were found. */
async function chooseHistories(logged: LoggedChanges, { onlyIds }: UndoChoices, notices: Set<string>): Promise<RecordHistory[]> {
	const chosen = logged.histories.newestFirst().filter(({ id }) => onlyIds?.has(id) ?? true);
	if (chosen.length === 0) {
		notices.add(`Nothing to undo: ${await logged.whyNothing()}`);
		return [];
	}
	const foundIds = new Set(chosen.map(({ id }) => id));
	const unknownIds = [...(onlyIds ?? [])].filter((id) => !foundIds.has(id));
	if (unknownIds.length > 0) {
		const others = unknownIds.length > 5 ? ` and ${unknownIds.length - 5} more` : '';
		notices.add(`Only These Records: no changes found for ${unknownIds.slice(0, 5).join(', ')}${others}.`);
	}
	return chosen;
}

async function describeCollections(api: Connection, histories: RecordHistory[]): Promise<Descriptions> {
	const descriptions = new Map<string, ResourceDescription | undefined>();
	for (const { collection, template } of histories) {
		if (!descriptions.has(collection)) descriptions.set(collection, await api.describe(template));
	}
	return descriptions;
}

function outputItem({ history, result, action, changes, reason, newId }: RecordUndo, isPreview: boolean): IDataObject {
	const { recordType, id, name } = history;
	return {
		result: isPreview && result === 'undone' ? 'to_be_undone' : result,
		action: action ?? null,
		kind: recordType,
		id,
		name: name ?? null,
		...(newId !== undefined && { new_id: newId }),
		changes,
		reason: reason ?? null,
	};
}
