import type { IDataObject } from 'n8n-workflow';

import { collectionName } from '../api/http/path';
import { mergePatch, recordName } from '../api/record';
import { idText } from '../base/json';
import { occurrences, reachable } from '../base/maps';
import { type FieldChange, checkMaximum } from '../changes/apply';
import { valueIn } from '../fields/keys';
import { recordsById } from '../lookUp/lookUp';
import { refuseDiffering } from '../mapping/sameForAll';
import type { NodeRun, ProceedAfter, Operation, Resource, Results } from '../model';
import { chosenOption } from '../parameters/properties';
import { parsePreview, parseWholeNumber } from '../values/parsers';
import { applyMerges, isOngoing, planLinkMoves, uniqueValues, withLinkMoves, type GroupMerge } from './applyMerges';
import { groupIds, maxMerged, mergePreview, mergeProperties, survivorId, survivorRule } from './duplicatesProperties';
import { readGroups, type DuplicateGroup, type RefusedGroup, type SurvivorRule } from './duplicateGroups';
import { mergedValues, readMergedType, valuesNotKept, type MergedType } from './mergedValues';

/** @param linkingTypes the record types whose links move to the survivor */
export function mergeDuplicates(linkingTypes: Resource[]): Operation {
	return {
		option: { name: 'Merge', value: 'merge', action: 'Merge duplicate %s', description: 'Merge duplicates into one record, and move what links to them' },
		properties: () => mergeProperties,
		output: {
			type: 'object',
			properties: {
				result: { type: 'string' }, id: { type: 'string' }, name: { type: 'string' }, deleted: { type: 'array' }, deleted_names: { type: 'array' },
				changes: { type: 'array' }, not_kept: { type: 'array' }, links: { type: 'array' }, reason: { type: 'string' },
			},
		},
		prepare: (run) => ({ size: Infinity, atOnce: 1, handle: async (_items, proceedAfter) => await mergeGroups(run, linkingTypes, proceedAfter) }),
	};
}

async function mergeGroups(run: NodeRun, linkingTypes: Resource[], proceedAfter: ProceedAfter): Promise<Results> {
	const { n8n, api, resource } = run;
	refuseDiffering(n8n, [...mergeProperties.filter((property) => property !== groupIds && property !== survivorId), ...(resource.parents ?? [])]);
	api.requireDescription('Merge');
	const isPreview = parsePreview(n8n.getNodeParameter(mergePreview.name, 0));
	const type = await readMergedType(run, linkingTypes);
	const groups = await readGroups(run, type, chosenOption<SurvivorRule>(n8n, 0, survivorRule));
	const planned = await withCirclesStopped(type, groups.flatMap((group) => ('reason' in group ? [] : [intendedMerge(type, group)])));
	const ongoing = planned.filter(isOngoing);
	const count = ongoing.reduce((sum, { losers }) => sum + losers.length, 0);
	const maximum = parseWholeNumber(maxMerged.displayName, n8n.getNodeParameter(maxMerged.name, 0, maxMerged.default));
	checkMaximum(count, { maximum, label: maxMerged.displayName, effect: 'be deleted', purpose: 'merge them', isPreview }, api.notices);
	if (n8n.getNodeParameter('authentication', 0, 'apiKey') !== 'apiKey') api.notices.add(limitedSight);
	const removed = ongoing.flatMap(({ losers, deleted }) => [...losers, ...deleted]);
	const merges = isPreview ? withLinkMoves(ongoing, await planLinkMoves(type, ongoing, removed)) : await applyMerges(run, type, ongoing);
	const outputs = new Map([...planned, ...merges].map((merge) => [merge.survivor.id, outputOfMerge(merge, isPreview && isOngoing(merge))]));
	const results = groups.map((group) => ('reason' in group ? outputOfRefused(group) : outputs.get(group.survivor.id)!));
	if (isPreview) api.notices.add(`Preview: nothing was written.${count > 0 && count <= maximum ? ' Turn off Preview to merge these records.' : ''}`);
	announceResults(run, results);
	proceedAfter(results);
	return results;
}

function intendedMerge(type: MergedType, group: DuplicateGroup): GroupMerge {
	const { survivor, losers, deleted } = group;
	const values = mergedValues(type, [survivor, ...losers], false);
	const unique = uniqueValues(type, survivor, [...losers, ...deleted]);
	const changes = [values, unique].flatMap((merged) => type.compare.difference(survivor, merged).changes);
	const notKept = valuesNotKept(type, [...losers, ...deleted], mergePatch(mergePatch(survivor, values), unique));
	return { ...group, values, changes, notKept, moves: [], traced: new Set(), isBegun: false, changedFields: [] };
}

/** Stops merges that would put a record above itself. Other links may form circles. */
async function withCirclesStopped({ recordList, fields }: MergedType, planned: GroupMerge[]): Promise<GroupMerge[]> {
	let merges = planned;
	for (const parent of fields.filter(({ name, target }) => target === recordList.path && name.startsWith('parent'))) {
		/** The record above each one, once all records of a group are one; none is ''. */
		const above = new Map([['', '']]);
		for (const { ids, values } of merges) for (const id of ids) above.set(id, idText(valueIn(values, parent)) ?? '');
		const unread = () => [...new Set(above.values())].filter((id) => !above.has(id));
		for (let ids = unread(); ids.length > 0; ids = unread()) {
			const records = await recordsById(recordList.api, { ...recordList, fields: [parent.path[0]!] }, ids);
			for (const id of ids) above.set(id, idText(valueIn(records.get(id) ?? {}, parent)) ?? '');
		}
		merges = merges.map((merge): GroupMerge => {
			const higher = reachable([above.get(merge.survivor.id)!], (id) => [above.get(id)!]);
			const last = [...higher].find((id) => merge.ids.includes(above.get(id)!));
			if (last === undefined) return merge;
			const stopped = `${parent.label}: ${last} is below ${above.get(last)!}, so the survivor would be above itself. Correct one of them first. Nothing was written.`;
			return { ...merge, stopped };
		});
	}
	return merges;
}

const outputOfRefused = ({ ids, reason }: RefusedGroup): IDataObject => ({
	result: 'refused', id: null, name: null, deleted: [], deleted_names: [], changes: [], not_kept: [], links: [], reason, ids,
});

function outputOfMerge(merge: GroupMerge, isPreview: boolean): IDataObject | Error {
	const { survivor, losers, deleted, howDeleted, changes, notKept, moves, stopped, isBegun, changedFields } = merge;
	if (stopped instanceof Error) return stopped;
	const isMade = ({ field }: FieldChange) => isPreview || changedFields.includes(field);
	const isDone = losers.length === 0 && (isPreview ? changes.length + moves.length === 0 : !isBegun);
	const gone = [...deleted, ...(isPreview ? losers : [])];
	const result = stopped !== undefined ? 'conflict' : isDone ? 'already_merged' : isPreview ? 'to_be_merged' : 'merged';
	return {
		result,
		id: survivor.id,
		name: recordName(survivor) ?? null,
		deleted: gone.map(({ id }) => id),
		deleted_names: gone.map((record) => recordName(record) ?? null),
		changes: changes.map((change) => (isMade(change) ? change : { ...change, kept: true })) as unknown as IDataObject[],
		not_kept: notKept,
		links: moves.flatMap(({ linking: { recordList: { path } }, record, changes: moved }) =>
			moved.map(({ field }): IDataObject => ({ collection: collectionName(path), id: record.id, name: recordName(record) ?? null, field }))),
		reason: stopped ?? (isDone ? howDeleted : null),
	};
}

/** Tells how many groups have each result, and how to take the merges back. */
function announceResults({ api, identity }: NodeRun, results: Array<IDataObject | Error>): void {
	const counts = [...occurrences(results.flatMap((result) => (result instanceof Error ? [] : String(result.result))))];
	const isMerged = counts.some(([result]) => result === 'merged');
	const undo = isMerged ? `. To take it back: Change → Undo → An Execution → ${identity.execution}.` : '';
	if (counts.length > 0) api.notices.add(counts.map(([result, times]) => `${times} ${result}`).join(', ') + undo);
}

const limitedSight = 'Links from records that this credential cannot see stay with the deleted records. An API key sees all.';
