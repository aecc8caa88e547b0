import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { listed } from '../base/lists';
import { occurrences } from '../base/maps';
import { countedReasons } from '../failure';
import { openEventLog } from '../log/eventLog';
import { recordsById } from '../lookUp/byId';
import { includingDeleted, isDeletedIn } from '../lookUp/recordList';
import type { NodeRun, Resource } from '../model';
import { checkMaximum } from '../changes/maximum';
import { type LiveLinks, readableValue, readLiveLinks, withLiveLinks } from './liveLinks';
import { type LoggedChanges, readLoggedChanges } from './loggedChanges';
import { recordKey } from './loggedEvent';
import { explain } from './reasons';
import type { RecordHistory } from './recordHistories';
import { leftAsItIs, type RecordUndo } from './recordUndo';
import { maxUndone, readUndoChoices, type UndoChoices } from './undoForm';
import { planRecord } from './undoPlan';
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
	const { planned, links } = await planUndo(api, choices, logged, histories);
	const limit = { ...choices, label: maxUndone.displayName, effect: 'change', purpose: 'undo them' };
	checkMaximum(planned.filter(({ action }) => action).length, limit, api.notices);
	await logged.catchUp();
	if (isPreview) {
		api.notices.add('Preview: nothing was written. Turn off Preview to undo these changes.');
		await announceEvents(api, planned);
		return outputItems(planned, links, api.notices, isPreview);
	}
	if (logged.lateCount > 0 && causer.type === 'execution') throw new Error(stillRuns(causer.label));
	const results = await writeUndos({ run, choices, logged, links }, planned);
	if (logged.lateCount > 0) api.notices.add(lateChanges(logged.lateCount, causer.label));
	return outputItems(results, links, api.notices, isPreview);
}

/** The histories of the records to undo. Tells the user about records for which no changes were found. */
function historiesToUndo(logged: LoggedChanges, { onlyIds }: UndoChoices, notices: Set<string>): RecordHistory[] {
	const histories = logged.histories.all().filter(({ id }) => onlyIds?.has(id) ?? true);
	const foundIds = new Set(histories.map(({ id }) => id));
	const unknownIds = [...(onlyIds ?? [])].filter((id) => !foundIds.has(id));
	if (histories.length === 0) notices.add(`Nothing to undo: ${logged.whyNothing()}`);
	else if (unknownIds.length > 0) notices.add(`Only These Records: no changes found for ${listed(unknownIds)}.`);
	return histories;
}

/** Decides what happens to each record. A created record stays if another one links to it when the undo is done. */
async function planUndo(
	api: Connection, choices: UndoChoices, { fields, linksToCreated, recreations }: LoggedChanges, histories: RecordHistory[],
): Promise<{ planned: RecordUndo[]; links: LiveLinks }> {
	const invisible = choices.isSightLimited ? await readInvisible(api, histories) : new Set<string>();
	const newIds = recreations.newIds('last');
	const undos = histories.map((history) => planRecord(
		{ history, fields: fields.get(history.collection)! }, { ...choices, isInvisible: invisible.has(history.key), newIds },
	));
	const links = await readLiveLinks(api, recreations.newIds('existing'), undos);
	const creations = new Set(undos.flatMap(({ action, history }) => (action === 'create' ? [history.key] : [])));
	const resolved = undos.map((undo) => withLiveLinks(links, undo, creations));
	const linkedIds = linksToCreated.linkedIds(resolved, 'done', choices);
	const isLinked = ({ action, history }: RecordUndo) => action === 'delete' && linkedIds.has(history.id);
	const planned = resolved.map((undo) => (isLinked(undo) ? leftAsItIs(undo, explain('linkedSince')) : undo));
	return { planned, links };
}

/**
 * The keys of the records that the log reports as deleted, but that the CRM does not show as deleted: for a user, a record
 * that becomes invisible is reported as deleted, too.
 *
 * @throws NodeApiError if the service does not answer
 */
async function readInvisible(api: Connection, histories: RecordHistory[]): Promise<ReadonlySet<string>> {
	const gone = histories.filter(({ problem, current }) => problem === undefined && !current);
	const invisible = new Set(gone.map(({ key }) => key));
	for (const [collection, template] of new Map(gone.map((history) => [history.collection, history.template]))) {
		const { list } = (await api.describe(template)) ?? {};
		if (!list?.deleted) continue;
		const ids = gone.flatMap((history) => (history.collection === collection ? [history.id] : []));
		const found = await recordsById(api, { path: collection, list, fields: [list.deleted.field] }, ids, includingDeleted(list));
		for (const [id, record] of found) if (isDeletedIn(list, record)) invisible.delete(recordKey({ collection, id }));
	}
	return invisible;
}

/** Tells the user which events undos will cause: one for each record, and perhaps those that accompany a change, such as `deal.won`. */
async function announceEvents(api: Connection, undos: RecordUndo[]): Promise<void> {
	const counts = occurrences(undos.flatMap(({ action, history }) => (action ? [`${history.recordType}.${action}d`] : [])));
	if (counts.size === 0) return;
	const { types } = await api.describeEvents();
	const isAccompanying = (type: string) => counts.has(type.replace(/[^.]+$/, 'updated')) && !/\.(?:created|updated|deleted|erased)$/.test(type);
	const accompanying = types.flatMap(({ type }) => (isAccompanying(type) ? [type] : []));
	const certain = [...counts].map(([type, count]) => `${count} × ${type}`);
	const events = accompanying.length > 0 ? [...certain, `perhaps also ${accompanying.join(', ')}`] : certain;
	api.notices.add(`This undo will cause ${events.join(', ')}. Workflows that listen to these events start, unless their triggers ignore changes made by Undo.`);
}

/** The output, with the changes as texts beside the values, and a count of the results and their reasons. */
function outputItems(undos: RecordUndo[], links: LiveLinks, notices: Set<string>, isPreview: boolean): IDataObject[] {
	const text = (undo: RecordUndo, areKept: boolean): string | null =>
		undo.changes.filter(({ kept = false }) => kept === areKept)
			.map(({ field, from, to }) => `${field}: ${readableValue(links, undo, field, from)} → ${readableValue(links, undo, field, to)}`)
			.join('; ') || null;
	const items = undos.map((undo): IDataObject => {
		const { history: { recordType, id, name }, result, action, changes, reason, newId } = undo;
		return {
			result: isPreview && result === 'undone' ? 'to_be_undone' : result,
			action: action ?? null,
			kind: recordType,
			id,
			name: name ?? null,
			...(newId !== undefined && { new_id: newId }),
			restored: text(undo, false),
			kept: text(undo, true),
			reason: reason ?? null,
			changes,
		};
	});
	const counts = [...occurrences(items.map(({ result }) => String(result)))].map(([result, count]) => {
		const reasons = countedReasons(items.flatMap((item) => (item.result === result && item.reason !== null ? [String(item.reason)] : [])));
		return [`${count} ${result}`, ...reasons.map(({ count: times, message }) => `  ${String(times)}: ${String(message)}`)].join('\n');
	});
	if (items.length > 1) notices.add(counts.join('\n'));
	return items;
}

const stillRuns = (label: string) =>
	`${label} is still making changes. Nothing was written. Wait until it has ended, then run the undo again.`;
const lateChanges = (count: number, label: string) =>
	`${label} made ${count} further ${count === 1 ? 'change' : 'changes'} while the undo ran, which are not undone. When it has ended, run the undo again.`;
