import type { IDataObject } from 'n8n-workflow';

import { recordName } from '../api/record';
import { idText } from '../base/json';
import { occurrences } from '../base/maps';
import { checkMaximum, noteEvents } from '../changes/notices';
import { valueIn } from '../fields/keys';
import { eventTypesOf } from '../log/crmEvent';
import { recordsById } from '../lookUp/lookUp';
import { refuseDiffering } from '../mapping/sameForAll';
import type { Execution, MayContinue, Operation, Resource, Results } from '../model';
import { chosenOption } from '../parameters/properties';
import { parsePreview, parseWholeNumber } from '../values/parsers';
import { applyMerges, planLinkMoves, uniqueValues, type GroupMerge } from './applyMerges';
import { fieldRules, maxMerged, mergePreview, mergeProperties, survivorRule } from './duplicatesForm';
import { readGroups, type DuplicateGroup, type RefusedGroup, type SurvivorRule } from './groups';
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
		prepare: (execution) => ({
			size: Infinity,
			atOnce: 1,
			run: async (_items, mayContinue) => await mergeGroups(execution, linkingTypes, mayContinue),
		}),
	};
}

async function mergeGroups(execution: Execution, linkingTypes: Resource[], mayContinue: MayContinue): Promise<Results> {
	const { n8n, api, resource } = execution;
	refuseDiffering(n8n, [mergePreview, survivorRule, fieldRules, maxMerged, ...(resource.parents ?? [])]);
	api.requireDescription('Merge');
	const isPreview = parsePreview(n8n.getNodeParameter(mergePreview.name, 0));
	const type = await readMergedType(execution, linkingTypes);
	const groups = await readGroups(execution, type, chosenOption<SurvivorRule>(n8n, 0, survivorRule));
	const plans = groups.map((group) => ('refusal' in group ? group : planMerge(type, group)));
	const merges = plans.flatMap((plan) => ('refusal' in plan ? [] : [plan]));
	await stopCircles(type, merges);
	const count = merges.reduce((sum, { losers }) => sum + losers.length, 0);
	const maximum = parseWholeNumber(maxMerged.displayName, n8n.getNodeParameter(maxMerged.name, 0, maxMerged.default));
	checkMaximum(count, { maximum, label: maxMerged.displayName, effect: 'be deleted', purpose: 'merge them', isPreview }, api.notices);
	if (n8n.getNodeParameter('authentication', 0, 'apiKey') !== 'apiKey') api.notices.add(limitedSight);
	if (isPreview) {
		await noteEffects(type, merges);
		api.notices.add(`Preview: nothing was written.${count > 0 && count <= maximum ? ' Turn off Preview to merge these records.' : ''}`);
	} else {
		await applyMerges(execution, type, merges);
	}
	const results = plans.map((plan) => ('refusal' in plan ? refused(plan) : mergeOutcome(plan, isPreview)));
	const counts = [...occurrences(results.flatMap((result) => (result instanceof Error ? [] : String(result.result))))];
	const undo = counts.some(([result]) => result === 'merged') ? `. To take it back: Change → Undo → An Execution → ${execution.identity.execution}.` : '';
	if (counts.length > 0) api.notices.add(counts.map(([result, times]) => `${times} ${result}`).join(', ') + undo);
	mayContinue(results);
	return results;
}

function planMerge(type: MergedType, group: DuplicateGroup): GroupMerge {
	const { survivor, losers, deleted } = group;
	const values = mergedValues(type, [survivor, ...losers], false);
	const unique = uniqueValues(type, group);
	const changes = [values, unique].flatMap((merged) => type.compare.difference(survivor, merged).changes);
	const notKept = valuesNotKept(type, [...losers, ...deleted], { ...values, ...unique });
	return { ...group, values, changes, notKept, links: [], traced: new Set() };
}

/** Leaves a group alone if its survivor would get a parent that is below itself. Other links may form circles. */
async function stopCircles({ recordList, fields }: MergedType, merges: GroupMerge[]): Promise<void> {
	for (const parent of fields.filter(({ name, collection: linked }) => linked === recordList.path && name.startsWith('parent'))) {
		let open = merges.flatMap((merge) => merge.changes.flatMap(({ field, to }) => {
			const id = field === parent.name ? idText(to) : undefined;
			return id === undefined ? [] : [{ merge, id, above: new Set<string>() }];
		}));
		while (open.length > 0) {
			const read = await recordsById(recordList.api, { ...recordList, fields: [parent.path[0]!] }, open.map(({ id }) => id));
			open = open.flatMap(({ merge, id, above }) => {
				const next = idText(valueIn(read.get(id) ?? {}, parent));
				if (next === undefined || above.has(next)) return [];
				if (!merge.ids.includes(next)) return [{ merge, id: next, above: above.add(next) }];
				merge.stopped = `${parent.label}: ${id} is below ${next}, so the survivor would be above itself. Correct one of them first. Nothing was written.`;
				return [];
			});
		}
	}
}

/** Adds the links that would move to the merges, and tells which events all changes would cause. */
async function noteEffects(type: MergedType, merges: GroupMerge[]): Promise<void> {
	const { api, path } = type.recordList;
	const moves = await planLinkMoves(type, merges, merges.flatMap(({ losers, deleted }) => [...losers, ...deleted]));
	const catalog = await api.describeEvents();
	const caused = [
		...(merges.some(({ changes }) => changes.length > 0) ? eventTypesOf(catalog, path, 'updated') : []),
		...(merges.some(({ losers }) => losers.length > 0) ? eventTypesOf(catalog, path, 'deleted') : []),
		...moves.flatMap(([{ recordList }, steps]) => (steps.length > 0 ? eventTypesOf(catalog, recordList.path, 'updated') : [])),
	];
	// An erasure is a deletion, too, but no merge causes one.
	const types = [...new Set(caused)].filter((name) => !name.endsWith('.erased'));
	noteEvents(api.notices, 'This merge will cause', types, 'this workflow');
}

const refused = ({ ids, refusal }: RefusedGroup): IDataObject => ({
	result: 'refused', id: null, name: null, deleted: [], deleted_names: [], changes: [], not_kept: [], links: [], reason: refusal, ids,
});

function mergeOutcome({ survivor, losers, deleted, earlier, changes, notKept, links, stopped, writtenFields }: GroupMerge, isPreview: boolean): IDataObject | Error {
	if (stopped instanceof Error) return stopped;
	const isDone = losers.length === 0 && (isPreview ? changes.length + links.length === 0 : writtenFields === undefined);
	const gone = [...new Map([...deleted, ...(isPreview ? losers : [])].map((record) => [record.id, record])).values()];
	const result = stopped !== undefined ? 'conflict' : isDone ? 'already_merged' : isPreview ? 'to_be_merged' : 'merged';
	return {
		result,
		id: survivor.id,
		name: recordName(survivor) ?? null,
		deleted: gone.map(({ id }) => id),
		deleted_names: gone.map((record) => recordName(record) ?? null),
		changes: changes.map((change) => (isPreview || writtenFields?.has(change.field) ? change : { ...change, kept: true })) as unknown as IDataObject[],
		not_kept: notKept as unknown as IDataObject[],
		links,
		reason: stopped ?? (isDone ? earlier : null),
	};
}

const limitedSight = 'Links from records that this credential cannot see stay with the deleted records. An API key sees all.';
