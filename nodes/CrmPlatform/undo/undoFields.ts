import { customFieldsIfAny } from '../api/customFields';
import { idempotencyKey, originOfKey } from '../api/http/idempotency';
import { ruleBroken } from '../api/http/rules';
import type { ResourceDescription } from '../api/openapi/description';
import { isLink, isRecordLink } from '../api/openapi/linkFields';
import { allCustomFields, type Field } from '../fields/field';
import { isTimeField } from '../fields/fieldKinds';
import { listNameOf } from '../fields/keys';
import { RecordComparison } from '../fields/recordComparison';
import { topLevelName } from '../log/eventFields';
import type { NodeRun } from '../model';
import { reachable } from '../base/maps';
import type { EventMeaning } from '../log/crmEvent';
import { takesKeys } from '../writing/sendAlone';

/** The fields of a record type as the service describes them, by the names that events give them. */
export class UndoFields {
	readonly description: ResourceDescription | undefined;
	/** Whether a record can be created under a key by which the next undo finds it. */
	readonly canMarkRecreations: boolean;
	/** Each custom field is a value of its own. */
	readonly compare: RecordComparison;
	private readonly byName: Record<'create' | 'update', ReadonlyMap<string, Field>>;
	private readonly dependents: ReadonlyMap<string, readonly string[]>;

	constructor(description: ResourceDescription | undefined, custom: Field[], canMarkRecreations: boolean) {
		const created = [...(description?.create?.fields ?? []), ...custom];
		const updated = [...(description?.update?.fields ?? []), ...custom];
		const byName = (fields: Field[]) => new Map(fields.map((field) => [field.name, field]));
		this.description = description;
		this.canMarkRecreations = canMarkRecreations;
		this.compare = new RecordComparison([...created, ...updated].filter(({ name }) => name !== allCustomFields), true);
		this.byName = { create: byName(created), update: byName(updated) };
		this.dependents = dependentsIn([...this.byName.update.values()]);
	}

	/** @throws Error in the user's words if a write takes no version */
	requireVersions(collection: string): void {
		for (const write of [this.description?.update, this.description?.delete]) {
			const sendsVersion = write?.replaces && write.fields.some(({ name }) => name === 'version');
			if (write && !write.takesIfMatch && !sendsVersion) throw ruleBroken(12, `${write.method} ${collection}`, unversioned);
		}
	}

	/** Whether a write sets the field of this name, as events give it. */
	canWrite(action: 'create' | 'update', name: string): boolean {
		return this.description?.[action]?.fields.some(({ path: [member] }) => member === topLevelName(name)) ?? false;
	}

	/** Whether the service may set a field anew with each change: a version, a time, the user who made it, or what it does not describe. */
	isOfEachChange(name: string): boolean {
		const field = this.description?.fields.find((described) => described.name === name);
		return field === undefined || name === 'version' || isTimeField(field) || field.target === '/users';
	}

	/** The field of this name, if it names other records. */
	linkField(name: string): Field | undefined {
		const field = this.byName.update.get(name);
		return field && isRecordLink(field) ? field : undefined;
	}

	/** The field of this name that a write sets, if it names other records or their parts. */
	writtenLink(action: 'create' | 'update', name: string): Field | undefined {
		const field = this.byName[action].get(name);
		return field && isLink(field) ? field : undefined;
	}

	isRequired(name: string): boolean {
		return this.byName.create.get(name)?.required === true;
	}

	/** Whether a field says where a record is, such as a pipeline and its stage. */
	isPlace(name: string): boolean {
		return [name, ...this.dependentFields(name)].some((other) => this.byName.update.get(other)?.part !== undefined);
	}

	dependentFields(name: string): readonly string[] {
		return this.dependents.get(name) ?? [];
	}

	/** These fields, and all that depend on them: none of them may be written alone. */
	withDependents(names: Iterable<string>): Set<string> {
		return reachable(names, (name) => this.dependentFields(name));
	}
}

/** The fields that the service changes with a field, or that have a meaning only with it: the stage of a pipeline, and `emails` of `email`. */
function dependentsIn(fields: Field[]): ReadonlyMap<string, readonly string[]> {
	const isPartOf = (field: Field, other: Field): boolean =>
		(field.part !== undefined && other.part === undefined && other.target === field.target) || other.name === listNameOf(field);
	return new Map(fields.map((field) => {
		const dependents = fields.filter((other) => isPartOf(field, other) || isPartOf(other, field));
		return [field.name, dependents.map(({ name }) => name)];
	}));
}

export async function readUndoFields(run: NodeRun, { collection, template }: EventMeaning): Promise<UndoFields> {
	const description = await run.api.describe(template);
	const custom = await customFieldsIfAny(run.api, collection, description?.update?.fields ?? []);
	const { idempotencyHeader, idempotencyKey: limits = {} } = description?.create ?? {};
	const canMark = takesKeys(run, idempotencyHeader) && originOfKey(idempotencyKey({ ...run.identity, keyParts: [0] }, limits)) !== undefined;
	return new UndoFields(description, custom?.fields ?? [], canMark);
}

const unversioned = 'It takes no version (If-Match), so an undo could overwrite what others change meanwhile. Nothing was written.';
