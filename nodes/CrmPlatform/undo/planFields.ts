import { getOrCreate } from '../base/maps';
import type { Connection } from '../api/connection';
import { readCustomFieldsIfAllowed, type CustomFields } from '../api/customFields';
import type { ResourceDescription } from '../api/openapi/description';
import { isRecordLink } from '../api/openapi/linkFields';
import { allCustomFields, type Field } from '../fields/field';
import { topLevelName } from './changedField';
import type { RecordUndo } from './recordUndo';

/** The descriptions of the record types, by collection; undefined if the service does not describe one. */
export type Descriptions = ReadonlyMap<string, ResourceDescription | undefined>;

/** The fields that a plan writes, as the service and its custom fields describe them. */
export class PlanFields {
	readonly descriptions: Descriptions;
	private readonly customFields: ReadonlyMap<string, CustomFields | undefined>;
	private readonly linkFields = new Map<string, ReadonlyMap<string, Field>>();

	/** Reads the custom fields of the record types of which a plan writes some. */
	static async read(api: Connection, descriptions: Descriptions, writtenUndos: RecordUndo[]): Promise<PlanFields> {
		const customFields = new Map<string, CustomFields | undefined>();
		for (const { changes, history: { collection } } of writtenUndos) {
			if (customFields.has(collection) || !changes.some(({ field }) => topLevelName(field) === allCustomFields)) continue;
			customFields.set(collection, await readCustomFieldsIfAllowed(api, `/v1${collection}`));
		}
		return new PlanFields(descriptions, customFields);
	}

	private constructor(descriptions: Descriptions, customFields: PlanFields['customFields']) {
		this.descriptions = descriptions;
		this.customFields = customFields;
	}

	/** Returns the fields that an undo may write and that link to other records, by name. */
	linkFieldsOf({ history: { collection }, action }: RecordUndo): ReadonlyMap<string, Field> {
		const verb = action === 'create' ? 'create' : 'update';
		return getOrCreate(this.linkFields, `${verb} ${collection}`, () => {
			const fields = [...(this.descriptions.get(collection)?.[verb]?.fields ?? []), ...(this.customFields.get(collection)?.fields ?? [])];
			return new Map(fields.filter(isRecordLink).map((field) => [field.name, field]));
		});
	}

	/** Whether a custom field still exists and is writable; true if the custom fields cannot be read. */
	canWriteCustomField({ history: { collection } }: RecordUndo, name: string): boolean {
		return this.customFields.get(collection)?.fields.some((field) => field.name === name) ?? true;
	}
}
