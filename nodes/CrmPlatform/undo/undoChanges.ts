import type { IDataObject } from 'n8n-workflow';

import { listed } from '../base/lists';
import { groupedBy } from '../base/maps';
import { checkMaximum } from '../changes/maximum';
import { openEventLog } from '../log/eventLog';
import type { NodeRun, Resource } from '../model';
import { type LoggedChanges, readLoggedChanges, undoableResource } from './loggedChanges';
import type { RecordHistory } from './recordHistories';
import { maxUndone, readUndoChoices, type UndoChoices } from './undoForm';
import { announceEvents, undoOutput } from './undoOutput';
import { planUndo } from './undoPlan';
import { writeUndos } from './undoWrites';

/**
 * Undoes what an execution, a workflow or a user has written: reads the log, compares it with the current records,
 * and writes the previous values unless it is a preview.
 *
 * @param undoableTypes the record types whose changes can be undone
 * @throws Error in the user's words if the log cannot be read or does not reach back; nothing is written then
 * @throws NodeApiError if the service stops answering; the next undo continues
 */
export async function undoChanges(running: NodeRun, item: number, undoableTypes: Resource[]): Promise<IDataObject[]> {
	const run: NodeRun = { ...running, identity: { ...running.identity, purpose: 'undo' } };
	const { api } = run;
	const choices = readUndoChoices(run, item, undoableTypes);
	const { causer, isPreview } = choices;
	const log = await openEventLog(api);
	api.requireDescription('Undo');
	const logged = await readLoggedChanges(run, log, choices);
	const histories = historiesToUndo(logged, choices, api.notices);
	if (histories.length === 0) return [];
	const planned = await planUndo(api, choices, logged, histories);
	const limit = { ...choices, label: maxUndone.displayName, effect: 'change', purpose: 'undo them' };
	checkMaximum(planned.filter(({ action }) => action).length, limit, api.notices);
	await logged.catchUp();
	if (isPreview) {
		api.notices.add('Preview: nothing was written. Turn off Preview to undo these changes.');
		await announceEvents(api, planned);
		return undoOutput(planned, logged.links, api.notices, isPreview);
	}
	if (logged.lateCount > 0 && causer.type === 'execution') throw new Error(stillRuns(causer.label));
	const undone = await writeUndos(run, logged, planned);
	if (logged.lateCount > 0) api.notices.add(lateChanges(logged.lateCount, causer.label));
	return undoOutput(undone, logged.links, api.notices, isPreview);
}

/**
 * The histories of the records to undo. Tells the user about records for which no changes were found.
 *
 * @throws Error in the user's words if a chosen ID is that of records of several types
 */
function historiesToUndo(logged: LoggedChanges, choices: UndoChoices, notices: Set<string>): RecordHistory[] {
	const { onlyIds } = choices;
	const histories = logged.histories.all().filter(({ id }) => onlyIds?.has(id) ?? true);
	const historiesOf = groupedBy(histories, ({ id }) => id);
	for (const id of onlyIds ?? []) {
		const ofRecords = historiesOf(id).filter(({ template }) => undoableResource(template, choices));
		if (ofRecords.length > 1) throw new Error(sharedId(id, ofRecords));
	}
	const unknownIds = [...(onlyIds ?? [])].filter((id) => historiesOf(id).length === 0);
	if (histories.length === 0) notices.add(`Nothing to undo: ${logged.whyNothing()}`);
	else if (unknownIds.length > 0) notices.add(`Only These Records: no changes found for ${listed(unknownIds)}.`);
	return histories;
}

const stillRuns = (label: string) => `${label} is still making changes. Nothing was written. Wait until it has ended, then run the undo again.`;
const lateChanges = (count: number, label: string) =>
	`${label} made ${count} further ${count === 1 ? 'change' : 'changes'} while the undo ran, which are not undone. When it has ended, run the undo again.`;
const sharedId = (id: string, histories: RecordHistory[]) =>
	`Only These Records: ${id} is the ID of records of several types: ${histories.map(({ kind }) => kind).join(', ')}. Nothing was written. Choose one of them under Record Types.`;
