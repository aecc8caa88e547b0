import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { listed } from '../base/lists';
import { groupedBy, occurrences } from '../base/maps';
import { checkMaximum } from '../changes/apply';
import { countedReasons } from '../failure';
import { openEventLog } from '../log/eventLog';
import type { NodeRun, Resource } from '../model';
import { linkOf, type LinkTargets, targetsIn } from './undoLinks';
import { type LoggedChanges, readLoggedChanges, undoableResource } from './loggedChanges';
import type { RecordHistory } from './recordHistories';
import type { RecordUndo } from './recordUndo';
import { maxUndone, readUndoSettings, type UndoSettings } from './undoSettings';
import { planUndo } from './undoPlan';
import { writeUndos } from './undoWrites';

/**
 * Reads the log, compares it with the current records, and writes the previous values unless it is a preview.
 *
 * @throws Error in the user's words if the log cannot be read or does not reach back; nothing is written then
 * @throws NodeApiError if the service stops answering; the next undo continues
 */
export async function undoChanges(running: NodeRun, item: number, undoableTypes: Resource[]): Promise<IDataObject[]> {
	const run: NodeRun = { ...running, identity: { ...running.identity, purpose: 'undo' } };
	const { api } = run;
	const settings = readUndoSettings(run, item, undoableTypes);
	const { causer, isPreview } = settings;
	const log = await openEventLog(api);
	api.requireDescription('Undo');
	const logged = await readLoggedChanges(run, log, settings);
	const histories = historiesToUndo(logged, settings, api.notices);
	if (histories.length === 0) return [];
	const plan = await planUndo(api, settings, logged, histories);
	const { planned, targets: { names } } = plan;
	const limit = { ...settings, label: maxUndone.displayName, effect: 'change', purpose: 'undo them' };
	checkMaximum(planned.filter(({ action }) => action).length, limit, api.notices);
	await logged.catchUp();
	if (isPreview) {
		api.notices.add('Preview: nothing was written. Turn off Preview to undo these changes.');
		await announceEvents(api, planned);
		return undoOutput(planned, names, api.notices, isPreview);
	}
	if (logged.lateCount > 0 && causer.type === 'execution') throw new Error(stillRuns(causer.label));
	const undone = await writeUndos(run, logged, plan);
	if (logged.lateCount > 0) api.notices.add(lateChanges(logged.lateCount, causer.label));
	return undoOutput(undone, names, api.notices, isPreview);
}

/** Tells the user of chosen records without changes. @throws Error in the user's words if a chosen ID is that of records of several types */
function historiesToUndo(logged: LoggedChanges, settings: UndoSettings, notices: Set<string>): RecordHistory[] {
	const { onlyIds } = settings;
	const histories = logged.histories.all().filter(({ id }) => onlyIds?.has(id) ?? true);
	const historiesOf = groupedBy(histories, ({ id }) => id);
	for (const id of onlyIds ?? []) {
		const ofRecords = historiesOf(id).filter(({ template }) => undoableResource(template, settings));
		if (ofRecords.length > 1) throw new Error(sharedId(id, ofRecords));
	}
	const unknownIds = [...(onlyIds ?? [])].filter((id) => historiesOf(id).length === 0);
	if (histories.length === 0) notices.add(`Nothing to undo: ${logged.whyNothing()}`);
	else if (unknownIds.length > 0) notices.add(`Only These Records: no changes found for ${listed(unknownIds)}.`);
	return histories;
}

/** An output item for each record, with the changes as texts beside the values. A notice counts the results and their reasons. */
function undoOutput(undos: RecordUndo[], names: LinkTargets['names'], notices: Set<string>, isPreview: boolean): IDataObject[] {
	const items = undos.map((undo): IDataObject => {
		const { history: { typeName, id, name }, result, action, changes, reason, newId } = undo;
		return {
			result: isPreview && result === 'undone' ? 'to_be_undone' : result,
			action: action ?? null,
			kind: typeName,
			id,
			name: name ?? null,
			...(newId !== undefined && { new_id: newId }),
			restored: changesText(undo, names, false),
			kept: changesText(undo, names, true),
			reason: reason ?? null,
			changes,
		};
	});
	if (items.length > 1) notices.add(resultCounts(items));
	return items;
}

/** The restored or the kept values of a record: `amount: 12000 → 1200`. */
function changesText(undo: RecordUndo, names: LinkTargets['names'], areKept: boolean): string | null {
	const changes = undo.changes.filter(({ kept = false }) => kept === areKept);
	const texts = changes.map(({ field, from, to }) => `${field}: ${readableValue(names, undo, field, from)} → ${readableValue(names, undo, field, to)}`);
	return texts.join('; ') || null;
}

/** A value as people read it: names beside the ids of records. */
function readableValue(names: LinkTargets['names'], undo: RecordUndo, name: string, value: unknown): string {
	const link = linkOf(undo, name);
	if (value === null || value === undefined) return 'empty';
	if (!link) return typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
	const targets = targetsIn(link, value).map(({ id, key }) => (names.has(key) ? `${names.get(key)} (${id})` : id));
	return targets.join(', ') || 'empty';
}

function resultCounts(items: IDataObject[]): string {
	const counts = occurrences(items.map(({ result }) => String(result)));
	return [...counts].flatMap(([result, count]) => {
		const reasons = countedReasons(items.flatMap((item) => (item.result === result && item.reason !== null ? [String(item.reason)] : [])));
		return [`${count} ${result}`, ...reasons.map(({ count: times, message }) => `  ${times}: ${message}`)];
	}).join('\n');
}

/** Which events undos will cause: one for each record, and perhaps those that accompany a change, such as `deal.won`. */
async function announceEvents(api: Connection, undos: RecordUndo[]): Promise<void> {
	const counts = occurrences(undos.flatMap(({ action, history }) => (action ? [`${history.typeName}.${action}d`] : [])));
	if (counts.size === 0) return;
	const { types } = await api.describeEvents();
	const accompanying = types.map(({ type }) => type).filter((type) =>
		counts.has(type.replace(/[^.]+$/, 'updated')) && !/\.(?:created|updated|deleted|erased)$/.test(type));
	const events = [...counts].map(([type, count]) => `${count} × ${type}`);
	if (accompanying.length > 0) events.push(`perhaps also ${accompanying.join(', ')}`);
	api.notices.add(`This undo will cause ${events.join(', ')}. Workflows that listen to these events start, unless their triggers ignore changes made by Undo.`);
}

const stillRuns = (label: string) => `${label} is still making changes. Nothing was written. Wait until it has ended, then run the undo again.`;
const lateChanges = (count: number, label: string) =>
	`${label} made ${count} further ${count === 1 ? 'change' : 'changes'} while the undo ran, which are not undone. When it has ended, run the undo again.`;
const sharedId = (id: string, histories: RecordHistory[]) =>
	`Only These Records: ${id} is the ID of records of several types: ${histories.map(({ typeName }) => typeName).join(', ')}. Nothing was written. Choose one of them under Record Types.`;
