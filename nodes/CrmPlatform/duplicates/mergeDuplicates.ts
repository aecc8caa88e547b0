import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { deletionByMerge } from '../api/http/idempotency';
import { collectionName } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { isRefused, recordName } from '../api/record';
import { canonicalText, idText } from '../base/json';
import { occurrences } from '../base/maps';
import { applyPlan } from '../changes/apply';
import { comparison, type Change, type RecordComparison } from '../changes/merge';
import { checkMaximum, noteEvents } from '../changes/notices';
import type { PlannedChange } from '../changes/plan';
import { allCustomFields, type Field } from '../fields/field';
import { valueIn } from '../fields/keys';
import { meaningOfTypes } from '../log/crmEvent';
import { fieldValue } from '../log/eventFields';
import { recordsById, type RecordList, type IdentifiedRecord } from '../lookUp/lookUp';
import { customFieldsIfAny } from '../api/customFields';
import { collectionPath } from '../mapping/locator';
import { refuseDiffering } from '../mapping/sameForAll';
import type { Execution, MayContinue, Operation, Resource, Result, Results } from '../model';
import { chosenOption } from '../parameters/properties';
import { isUnset } from '../values/blank';
import { readOption, readPreview, readWholeNumber } from '../values/readers';
import { versionOf } from '../writing/replace';
import { requireDescribed } from '../writing/requireWrite';
import { fieldRules, maxMerged, mergePreview, mergeProperties, survivorRule } from './duplicatesForm';
import { changeTime, readGroups, type DuplicateGroup, type RefusedGroup, type SurvivorRule } from './groups';
import { isLinkMoved, linkingCollections, recordsLinkingTo, withLinksMoved, type LinkingCollection } from './linkingRecords';
import { mergedFields, mergedValues, ruleNames, valuesNotKept, type Rule } from './mergedValues';

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
			send: async (_items, mayContinue) => await mergeGroups(execution, linkingTypes, mayContinue),
		}),
	};
}

/** What is known about the merge of one group. */
interface Merging extends DuplicateGroup {
	/** The values that the survivor gets at once: those that must be unique are free when their holder is gone. */
	values: IDataObject;
	changes: Change[];
	notKept: ReturnType<typeof valuesNotKept>;
	links: Array<{ collection: string; id: string; name: string | null; field: string }>;
	/** Why the rest of it was not done. */
	stopped?: string | Error;
	/** The fields that the survivor got; undefined before anything was written. */
	writtenFields?: Set<string>;
}

async function mergeGroups(execution: Execution, linkingTypes: Resource[], mayContinue: MayContinue): Promise<Results> {
	const { n8n, api, resource } = execution;
	refuseDiffering(n8n, [mergePreview, survivorRule, fieldRules, maxMerged, ...(resource.parents ?? [])]);
	api.requireDescription('Merge');
	const isPreview = readPreview(n8n.getNodeParameter(mergePreview.name, 0));
	const list = await requireDescribed(execution, 'list');
	const { fields: described, upsert, update } = (await api.describe(resource.path))!;
	for (const action of ['update', 'delete'] as const) await requireDescribed(execution, action);
	const path = collectionPath(execution, 0);
	const target = collectionName(path);
	const linking = await linkingCollections(api, linkingTypes, target);
	const custom = await customFieldsIfAny(api, path, update?.fields ?? []);
	const unique = new Set(upsert?.match?.values);
	const fields = [...(update?.fields ?? []).map((field): Field => (unique.has(field.name) ? { ...field, unique: true } : field)), ...(custom?.fields ?? [])];
	const written = mergedFields(fields, readRules(execution));
	const collection: RecordList = { api, path, list, filters: list.filters, fields: described.map(({ name }) => name) };
	const compare = comparison(fields.filter(({ name }) => name !== allCustomFields), true);
	const changedAt = changeTime(collection);
	const uniqueOf = ({ survivor, losers, deleted }: DuplicateGroup) => mergedValues(written.filter(({ isUnique }) => isUnique), [survivor, ...losers, ...deleted], target, changedAt);
	const groups = (await readGroups(execution, collection, chosenOption<SurvivorRule>(n8n, 0, survivorRule), fields.filter(({ name }) => name !== allCustomFields)))
		.map((group) => ('refusal' in group ? group : withUnwritableRefused(group, custom?.unwritableNames ?? [])));
	const mergings = groups.flatMap((group): Merging[] => {
		if ('refusal' in group) return [];
		const values = mergedValues(written.filter(({ isUnique }) => !isUnique), [group.survivor, ...group.losers], target, changedAt);
		const uniqueValues = uniqueOf(group);
		const changes = [values, uniqueValues].flatMap((merged) => compare.difference(group.survivor, merged).changes);
		const notKept = valuesNotKept(written, [...group.losers, ...group.deleted], { ...values, ...uniqueValues });
		return [{ ...group, values, changes, notKept, links: [] }];
	});
	await stopCircles(collection, mergings, fields.filter(({ name, collection: linked }) => linked === target && name.startsWith('parent')));
	const count = mergings.reduce((sum, { losers }) => sum + losers.length, 0);
	const maximum = readWholeNumber(maxMerged.displayName, n8n.getNodeParameter(maxMerged.name, 0, maxMerged.default));
	checkMaximum(count, { maximum, label: maxMerged.displayName, effect: 'be deleted', purpose: 'merge them', isPreview }, api.notices);
	if (n8n.getNodeParameter('authentication', 0, 'apiKey') !== 'apiKey') api.notices.add(limitedSight);
	const merger = new Merger(execution, collection, linking, target, mergings);
	if (isPreview) {
		const moved = (await merger.findLinks()).filter(([, steps]) => steps.length > 0).map(([{ collection: { path: linkingPath } }]) => linkingPath);
		const updated = new Set([...mergings.flatMap(({ changes }) => (changes.length > 0 ? [path] : [])), ...moved]);
		const catalog = await api.describeEvents();
		const meaningOf = meaningOfTypes(catalog);
		const caused = catalog.types.filter(({ type }) => {
			const { collection: of, change } = meaningOf(type) ?? {};
			return change === 'updated' ? updated.has(of!) : change === 'deleted' && count > 0 && of === path;
		});
		noteEvents(api.notices, 'This merge will cause', caused.map(({ type }) => type), 'this workflow');
		api.notices.add(`Preview: nothing was written.${count > 0 && count <= maximum ? ' Turn off Preview to merge these records.' : ''}`);
	} else await merger.run(compare, uniqueOf, [...unique, ...(custom?.fields ?? []).flatMap((field) => (field.unique ? [field.name] : []))]);
	const byItem = new Map(mergings.map((merging) => [merging.item, merging]));
	const results = groups.map((group): Result | Error => ('refusal' in group ? refused(group) : outcomeOf(byItem.get(group.item)!, isPreview)));
	const counts = [...occurrences(results.flatMap((result) => (result instanceof Error ? [] : String((result as IDataObject).result))))];
	const undo = counts.some(([result]) => result === 'merged') ? `. To take it back: Change → Undo → An Execution → ${execution.identity.execution}.` : '';
	if (counts.length > 0) api.notices.add(counts.map(([result, times]) => `${times} ${result}`).join(', ') + undo);
	mayContinue(results);
	return results;
}

/** Leaves a group alone if its survivor would get a parent that is below itself. Other links may form circles. */
async function stopCircles({ api, path, list }: RecordList, mergings: Merging[], parents: Field[]): Promise<void> {
	for (const parent of parents) {
		let open = mergings.flatMap((merging) => merging.changes.flatMap(({ field, to }) => {
			const id = field === parent.name ? idText(to) : undefined;
			return id === undefined ? [] : [{ merging, id, above: new Set<string>() }];
		}));
		while (open.length > 0) {
			const read = await recordsById(api, { path, list, fields: [parent.path[0]!] }, open.map(({ id }) => id));
			open = open.flatMap(({ merging, id, above }) => {
				const next = idText(valueIn(read.get(id) ?? {}, parent));
				if (next === undefined || above.has(next)) return [];
				if (!merging.ids.includes(next)) return [{ merging, id: next, above: above.add(next) }];
				merging.stopped = `${parent.label}: ${id} is below ${next}, so the survivor would be above itself. Correct one of them first. Nothing was written.`;
				return [];
			});
		}
	}
}

function readRules({ n8n }: Execution): Map<string, Rule> {
	const rows = n8n.getNodeParameter(`${fieldRules.name}.rows`, 0, []) as Array<{ field?: unknown; rule?: unknown }>;
	return new Map(rows.map(({ field, rule }) => [String(field ?? ''), readOption<Rule>('Field Rules', rule, ruleNames)]));
}

/** A change of a record, and the merges that need it. */
interface Step {
	mergings: Merging[];
	change: PlannedChange;
}

/**
 * Merges groups, all of them step by step. After each step, the CRM has every value and link at least once, and a further
 * run can go on from there: values, links, deletions, links that others have made meanwhile, and values that must be unique.
 */
class Merger {
	private readonly execution: Execution;
	private readonly type: LinkingCollection;
	private readonly linking: LinkingCollection[];
	private readonly target: string;
	private readonly mergings: Merging[];
	private readonly runId = randomUUID();
	/** By the id of a record that does not stay. */
	private readonly byRemoved = new Map<string, Merging>();
	private readonly bySurvivor = new Map<string, Merging>();
	/** The losers of which the log shows, by a link that moved, which record is kept. */
	private readonly traced = new Set<string>();

	constructor(execution: Execution, collection: RecordList, linking: LinkingCollection[], target: string, mergings: Merging[]) {
		this.execution = execution;
		this.type = { resource: execution.resource, collection, links: [] };
		this.linking = linking;
		this.target = target;
		this.mergings = mergings;
		for (const merging of mergings) {
			for (const { id } of [...merging.losers, ...merging.deleted]) this.byRemoved.set(id, merging);
			this.bySurvivor.set(merging.survivor.id, merging);
		}
	}

	/** @param uniqueOf the values that must be unique, of which each of the fields `uniqueNames` has one */
	async run(compare: RecordComparison, uniqueOf: (group: DuplicateGroup) => IDataObject, uniqueNames: string[]): Promise<void> {
		await this.updateSurvivors('values', this.active(), ({ survivor, values }) => compare.difference(survivor, values));
		await this.moveLinks('links', this.active().flatMap(({ losers }) => losers));
		await this.checkSurvivors(this.active(), survivorGone);
		await this.deleteLosers(false);
		await this.deleteLosers(true);
		const emptied = this.mergings.filter(({ losers, deleted }) => deleted.length > 0 && losers.every((loser) => deleted.includes(loser)));
		await this.checkSurvivors(emptied, allGone);
		for (const name of uniqueNames) {
			const differenceOf = (merging: Merging) => compare.difference(merging.survivor, uniqueOf(merging), (field) => field === name || field === `${name}s`);
			await this.retried(emptied.filter((merging) => differenceOf(merging).changes.length > 0), async (left, attempt) => {
				if (attempt > 1) await this.checkSurvivors(left, allGone, true);
				await this.updateSurvivors(`${name}/${attempt}`, left.filter(({ stopped }) => stopped !== allGone), differenceOf);
			});
		}
		await this.moveLinks('late', this.mergings.flatMap(({ deleted }) => deleted));
	}

	/** @param areAlone those that an erasure of the survivor would not find in the log, unless a key names both */
	private async deleteLosers(areAlone: boolean): Promise<void> {
		const { execution } = this.execution.identity;
		const isAlone = ({ id }: IdentifiedRecord) => this.target === 'contacts' && !this.traced.has(id);
		await this.write(areAlone ? 'deletions alone' : 'deletions', this.type, this.active().flatMap((merging) => merging.losers.filter((loser) => isAlone(loser) === areAlone).map((record): Step => {
			const deletion = areAlone ? { deletion: deletionByMerge(merging.survivor.id, record.id, execution) } : {};
			return { mergings: [merging], change: { action: 'delete', record, changes: [], ...deletion } };
		})));
	}

	/** Tries again what others have prevented by changing a survivor: the values of deleted records are nowhere else. */
	private async retried(mergings: Merging[], attempt: (left: Merging[], count: number) => Promise<void>): Promise<void> {
		const before = new Map(mergings.map((merging) => [merging, merging.stopped]));
		let left = mergings.filter(({ stopped }) => stopped !== allGone);
		for (let count = 1; left.length > 0 && count <= maxAttempts; count++) {
			for (const merging of left) delete merging.stopped;
			await attempt(left, count);
			const failed = left.filter(({ stopped }) => stopped !== undefined && stopped !== allGone);
			for (const merging of left) if (!failed.includes(merging)) merging.stopped ??= before.get(merging)!;
			left = failed;
		}
	}

	/** Looks whether the survivors still exist: a merge whose survivor is gone goes no further. Reads those anew that may have changed unnoticed. */
	private async checkSurvivors(mergings: Merging[], reason: string, areStale = mergings.some(({ survivor }) => versionOf(survivor) === undefined)): Promise<void> {
		const { api, path, list, fields } = this.type.collection;
		const read = await recordsById(api, { path, list, fields: areStale ? fields : [] }, mergings.map(({ survivor }) => survivor.id));
		for (const merging of mergings) {
			const record = read.get(merging.survivor.id);
			if (!record) merging.stopped = reason;
			else if (areStale) merging.survivor = { ...record, id: merging.survivor.id };
		}
	}

	/** Finds the links to records that do not stay, except for those of records that do not stay either. */
	async findLinks(removed: IdentifiedRecord[] = [...this.mergings.flatMap(({ losers, deleted }) => [...losers, ...deleted])]): Promise<Array<[LinkingCollection, Step[]]>> {
		const ids = new Set(removed.map(({ id }) => id));
		const found: Array<[LinkingCollection, Step[]]> = [];
		const records = await inParallel(ids.size === 0 ? [] : this.linking, async (linking) => await recordsLinkingTo(linking, this.target, [...ids]));
		for (const [i, linkingRecords] of records.entries()) {
			const linking = this.linking[i]!;
			const { path } = linking.collection;
			const isSameType = path === this.type.collection.path;
			const steps = linkingRecords.flatMap((record): Step[] => {
				if (isSameType && ids.has(record.id)) return [];
				const mergings = new Set<Merging>();
				const { changes, patch, unwritable } = withLinksMoved(record, linking, this.target, (id) => {
					const merging = ids.has(id) ? this.byRemoved.get(id) : undefined;
					if (!merging || (isSameType && merging.survivor.id === record.id)) return undefined;
					mergings.add(merging);
					return merging.survivor.id;
				});
				if (unwritable) for (const merging of mergings) merging.stopped ??= `${collectionName(path)}/${record.id} links to a duplicate in ${unwritable.label}, which cannot be written, so the link would be lost. Nothing more was done.`;
				for (const { links } of mergings) links.push(...changes.map(({ field }) => ({ collection: collectionName(path), id: record.id, name: recordName(record) ?? null, field })));
				return changes.length === 0 || unwritable ? [] : [{ mergings: [...mergings], change: { action: 'update', record, patch, changes } }];
			});
			found.push([linking, steps]);
		}
		return found;
	}

	private active(): Merging[] {
		return this.mergings.filter(({ stopped }) => stopped === undefined);
	}

	private async updateSurvivors(step: string, mergings: Merging[], differenceOf: (merging: Merging) => Pick<PlannedChange, 'changes' | 'patch'>): Promise<void> {
		await this.write(step, this.type, mergings.flatMap((merging): Step[] => {
			const { changes, patch } = differenceOf(merging);
			return changes.length === 0 ? [] : [{ mergings: [merging], change: { action: 'update', record: merging.survivor, ...(patch && { patch }), changes } }];
		}));
	}

	private async moveLinks(step: string, records: IdentifiedRecord[]): Promise<void> {
		for (const [linking, steps] of await this.findLinks(records)) await this.write(step, linking, steps);
	}

	/** Makes changes. A merge of which one is not made goes no further. */
	private async write(step: string, { resource, collection }: Pick<LinkingCollection, 'resource' | 'collection'>, steps: Step[]): Promise<void> {
		if (steps.length === 0) return;
		const { identity } = this.execution;
		const execution: Execution = { ...this.execution, resource, identity: { ...identity, run: `${this.runId}/${step}/${collection.path}`, purpose: 'merge' } };
		const planned = steps.map(({ change }, item): PlannedChange => ({ ...change, item }));
		const { done, failures } = await applyPlan(execution, collection, planned, { stopsAt: (error) => !isRefused(error) });
		const tried = new Set<number>();
		const stop = (item: number, reason: string | Error) => {
			tried.add(item);
			for (const merging of steps[item]!.mergings) merging.stopped ??= reason;
		};
		const about = (item: number, reason: string) => `${collectionName(collection.path)}/${String(steps[item]!.change.record!.id)}: ${reason}`;
		for (const { action, item = 0, record, reason = '' } of done) {
			if (action === 'conflict') stop(item, about(item, reason));
			else this.noteWrite(steps[item]!, collection, record!);
			tried.add(item);
		}
		for (const { item = 0, error } of failures) stop(item, isRefused(error) ? about(item, `The CRM refused it: ${error.message}`) : error);
		for (const item of steps.keys()) if (!tried.has(item)) stop(item, new Error(untried));
	}

	private noteWrite({ mergings, change: { action, changes } }: Step, { path }: RecordList, record: IdentifiedRecord): void {
		for (const merging of mergings) {
			merging.writtenFields ??= new Set();
			for (const { id } of merging.losers) if (changes.some(({ from, to }) => isLinkMoved(from, to, id, merging.survivor.id))) this.traced.add(id);
		}
		if (action === 'delete') for (const merging of mergings) merging.deleted.push(record);
		// The survivor of one group may link to the records of another one.
		const merging = path === this.type.collection.path ? this.bySurvivor.get(record.id) : undefined;
		if (!merging) return;
		merging.survivor = { ...merging.survivor, ...record };
		for (const { field } of changes) merging.writtenFields?.add(field);
	}
}

const refused = ({ ids, refusal }: RefusedGroup): IDataObject => ({ result: 'refused', id: null, name: null, deleted: [], deleted_names: [], changes: [], not_kept: [], links: [], reason: refusal, ids });

function outcomeOf({ survivor, losers, deleted, earlier, changes, notKept, links, stopped, writtenFields }: Merging, isPreview: boolean): IDataObject | Error {
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

/** A group with a value that would be lost, since no field of the survivor can take it, is refused. */
function withUnwritableRefused(group: DuplicateGroup, unwritableNames: string[]): DuplicateGroup | RefusedGroup {
	const { item, ids, survivor, losers } = group;
	for (const name of unwritableNames) {
		const lost = losers.find((loser) => !isUnset(fieldValue(loser, name)) && canonicalText(fieldValue(loser, name)) !== canonicalText(fieldValue(survivor, name)));
		if (lost) return { item, ids, refusal: `${lost.id} has a value in ${name}, which cannot be written, so it would be lost. Make the field writable, or leave the record out.` };
	}
	return group;
}

const maxAttempts = 3;
const survivorGone = 'The survivor was deleted after this run read it. Nothing was deleted.';
const allGone = 'The survivor was deleted while its duplicates were: no record of the group is left. Undo this execution to restore them.';
const untried = 'It was not tried, because another group failed. Run it again.';
const limitedSight = 'Links from records that this credential cannot see stay with the deleted records. An API key sees all.';
