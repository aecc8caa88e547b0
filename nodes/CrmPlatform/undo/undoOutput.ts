import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { occurrences } from '../base/maps';
import { countedReasons } from '../failure';
import type { RecordUndo } from './recordUndo';
import { linkOf, targetsIn, type UndoLinks } from './undoLinks';

/** An output item for each record, with the changes as texts beside the values. A notice counts the results and their reasons. */
export function undoOutput(undos: RecordUndo[], links: UndoLinks, notices: Set<string>, isPreview: boolean): IDataObject[] {
	const items = undos.map((undo): IDataObject => {
		const { history: { kind, id, name }, result, action, changes, reason, newId } = undo;
		return {
			result: isPreview && result === 'undone' ? 'to_be_undone' : result,
			action: action ?? null,
			kind,
			id,
			name: name ?? null,
			...(newId !== undefined && { new_id: newId }),
			restored: changesText(undo, links, false),
			kept: changesText(undo, links, true),
			reason: reason ?? null,
			changes,
		};
	});
	if (items.length > 1) notices.add(resultCounts(items));
	return items;
}

/** The restored or the kept values of a record: `amount: 12000 → 1200`. */
function changesText(undo: RecordUndo, links: UndoLinks, areKept: boolean): string | null {
	const changes = undo.changes.filter(({ kept = false }) => kept === areKept);
	const texts = changes.map(({ field, from, to }) => `${field}: ${readableValue(links, undo, field, from)} → ${readableValue(links, undo, field, to)}`);
	return texts.join('; ') || null;
}

/** A value as people read it: names beside the ids of records. */
function readableValue({ names }: UndoLinks, undo: RecordUndo, name: string, value: unknown): string {
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
export async function announceEvents(api: Connection, undos: RecordUndo[]): Promise<void> {
	const counts = occurrences(undos.flatMap(({ action, history }) => (action ? [`${history.kind}.${action}d`] : [])));
	if (counts.size === 0) return;
	const { types } = await api.describeEvents();
	const accompanying = types.map(({ type }) => type).filter((type) =>
		counts.has(type.replace(/[^.]+$/, 'updated')) && !/\.(?:created|updated|deleted|erased)$/.test(type));
	const events = [...counts].map(([type, count]) => `${count} × ${type}`);
	if (accompanying.length > 0) events.push(`perhaps also ${accompanying.join(', ')}`);
	api.notices.add(`This undo will cause ${events.join(', ')}. Workflows that listen to these events start, unless their triggers ignore changes made by Undo.`);
}
