import { type CustomFields, readCustomFieldsIfAllowed } from '../api/customFields';
import { idempotencyKey, originOfKey } from '../api/http/idempotency';
import { ruleBroken } from '../api/http/rules';
import type { ResourceDescription } from '../api/openapi/description';
import { isLink, isRecordLink } from '../api/openapi/linkFields';
import { allCustomFields, type Field } from '../fields/field';
import { listNameOf } from '../fields/keys';
import { type Change, comparison, type RecordComparison } from '../changes/merge';
import { eventName, topLevelName } from '../log/eventFields';
import type { NodeRun } from '../model';
import { getOrCreate, reachable } from '../base/maps';
import { withoutMembers } from '../base/ownMembers';
import { hasOnlyBlanks } from '../values/blank';
import type { RecordHistory } from './history';
import { explain } from './reasons';
import { allKept, type RecordUndo, withReason } from './recordUndo';

/** The fields of a record type as the service describes them, by the names that events give them. */
export class UndoFields {
	readonly description: ResourceDescription | undefined;
	/** Whether a record can be created under a key by which the next undo finds it. */
	readonly canMarkRecreations: boolean;
	readonly compare: RecordComparison;
	private readonly byAction: Record<'create' | 'update', ReadonlyMap<string, Field>>;
	/** The fields that say where a record is, such as a pipeline and its stage. */
	private readonly places: ReadonlySet<string>;
	/**
	 * The fields that the service changes with a field, or that only have a meaning together with it: the stage of a pipeline,
	 * and `emails`, which contains `email`.
	 */
	private readonly dependents = new Map<string, string[]>();

	constructor(execution: NodeRun, description: ResourceDescription | undefined, custom: CustomFields | undefined) {
		this.description = description;
		const fieldsOf = (action: 'create' | 'update') => [...(description?.[action]?.fields ?? []), ...(custom?.fields ?? [])];
		const byName = (action: 'create' | 'update') => new Map(fieldsOf(action).map((field) => [field.name, field]));
		this.byAction = { create: byName('create'), update: byName('update') };
		// Each custom field is a value of its own.
		const compared = [...fieldsOf('create'), ...fieldsOf('update')].filter(({ name }) => name !== allCustomFields);
		this.compare = comparison(compared, true);
		const fields = [...this.byAction.update.values()];
		const places = fields.filter(({ part }) => part !== undefined).flatMap((part) =>
			fields.filter((owner) => owner.part === undefined && owner.collection === part.collection).map((owner) => [part.name, owner.name]),
		);
		const forms = fields.flatMap((field) => (this.byAction.update.has(listNameOf(field)) ? [[field.name, listNameOf(field)]] : []));
		for (const [a = '', b = ''] of [...places, ...forms]) {
			getOrCreate(this.dependents, a, () => []).push(b);
			getOrCreate(this.dependents, b, () => []).push(a);
		}
		this.places = new Set(places.flat());
		this.canMarkRecreations = hasOriginInKeys(execution, description?.create);
	}

	/** Whether a write sets the field of this name, as events give it. */
	canWrite(action: 'create' | 'update', name: string): boolean {
		return this.description?.[action]?.fields.some(({ path: [member] }) => member === topLevelName(name)) ?? false;
	}

	/** The field of this name, if it names other records. */
	linkField(name: string): Field | undefined {
		const field = this.byAction.update.get(name);
		return field && isRecordLink(field) ? field : undefined;
	}

	/** The field of this name that a write sets, if it names other records or their parts. */
	writtenLink(action: 'create' | 'update', name: string): Field | undefined {
		const field = this.byAction[action].get(name);
		return field && isLink(field) ? field : undefined;
	}

	dependentFields(name: string): readonly string[] {
		return this.dependents.get(name) ?? [];
	}

	/** These fields, and all that depend on them: none of them may be written alone. */
	withDependents(names: Iterable<string>): Set<string> {
		return reachable(names, (name) => this.dependentFields(name));
	}

	/**
	 * An undo without the values of some fields. A record is never left where the service would put it: without its stage, it
	 * does not get its pipeline, either, and is not created. The undo has no action if nothing is left to write.
	 */
	without(undo: RecordUndo, omitted: ReadonlySet<string>): RecordUndo {
		const isDisplaced = [...omitted].some((name) => this.places.has(name));
		const isKept = ({ field, kept }: Change) => kept === true || omitted.has(eventName(field)) || (isDisplaced && this.places.has(field));
		const changes = undo.changes.map((change): Change => (isKept(change) ? { ...change, kept: true } : change));
		const isRequired = [...omitted].some((name) => this.byAction.create.get(name)?.required);
		if (undo.action === 'create' && (isRequired || isDisplaced)) {
			return withReason({ ...withoutMembers(undo, 'action'), changes: allKept(changes) }, explain(isRequired ? 'requiredLink' : 'displaced'));
		}
		if (changes.some(({ kept }) => !kept)) return { ...undo, changes };
		return { ...withoutMembers(undo, 'action'), changes, result: undo.result === 'conflict' ? 'conflict' : 'cannot_be_undone' };
	}

	isSame(name: string, a: unknown, b: unknown): boolean {
		return this.compare.covers(name, a, b) && this.compare.covers(name, b, a);
	}
}

export type FieldsByCollection = ReadonlyMap<string, UndoFields>;

/**
 * Reads the descriptions of the record types, and the custom fields of those of which some were changed or deleted.
 *
 * @throws Error in the user's words if a write takes no version
 */
export async function readUndoFields(execution: NodeRun, histories: RecordHistory[]): Promise<FieldsByCollection> {
	const { api } = execution;
	const fields = new Map<string, UndoFields>();
	for (const { collection, template } of histories) {
		if (fields.has(collection)) continue;
		const isConcerned = histories.some((history) => history.collection === collection && concernsCustomFields(history));
		const custom = isConcerned ? await readCustomFieldsIfAllowed(api, collection) : undefined;
		const description = await api.describe(template);
		for (const write of [description?.update, description?.delete]) {
			if (write && !write.replaces && !write.takesIfMatch) throw ruleBroken(12, `${write.method} ${collection}`, unversioned);
		}
		fields.set(collection, new UndoFields(execution, description, custom));
	}
	return fields;
}

const unversioned = 'It takes no version (If-Match), so an undo could overwrite what others change meanwhile. Nothing was written.';

const concernsCustomFields = ({ fieldHistories, deletion, problem }: RecordHistory): boolean =>
	problem === undefined &&
	([...fieldHistories.keys()].some((name) => topLevelName(name) === allCustomFields) || !hasOnlyBlanks(deletion?.record[allCustomFields]));

/** Whether the keys of creations have room for their origin. */
function hasOriginInKeys({ api, identity }: NodeRun, create: ResourceDescription['create']): boolean {
	if (!api.isSelfDescribed() || create?.idempotencyHeader === undefined) return false;
	return originOfKey(idempotencyKey({ ...identity, items: [0] }, create.idempotencyKey ?? {})) !== undefined;
}
