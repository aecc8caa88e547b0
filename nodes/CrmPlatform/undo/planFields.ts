import { getOrCreate } from '../base/maps';
import type { Connection } from '../api/connection';
import { readCustomFieldsIfAllowed, type CustomFields } from '../api/customFields';
import type { ResourceDescription } from '../api/openapi/description';
import { isRecordLink } from '../api/openapi/linkFields';
import { allCustomFields, type Field } from '../fields/field';
import { topLevelName } from './changedField';
import type { RecordHistory } from './recordHistory';
import type { RecordUndo } from './recordUndo';
import { hasNoValue } from './sameValue';

/** The descriptions of the record types, by collection; undefined if the service does not describe one. */
export type Descriptions = ReadonlyMap<string, ResourceDescription | undefined>;

/** The fields that an undo may write, as the service and its custom fields describe them. */
export class PlanFields {
	readonly descriptions: Descriptions;
	private readonly customFields: ReadonlyMap<string, CustomFields | undefined>;
	private readonly linkFields = new Map<string, ReadonlyMap<string, Field>>();

	/** Reads the custom fields of the record types of which some were changed or deleted. */
	static async read(api: Connection, descriptions: Descriptions, histories: RecordHistory[]): Promise<PlanFields> {
		const customFields = new Map<string, CustomFields | undefined>();
		for (const history of histories) {
			const { collection } = history;
			if (customFields.has(collection) || !concernsCustomFields(history)) continue;
			customFields.set(collection, await readCustomFieldsIfAllowed(api, `/v1${collection}`));
		}
		return new PlanFields(descriptions, customFields);
	}

	private constructor(descriptions: Descriptions, customFields: PlanFields['customFields']) {
		this.descriptions = descriptions;
		this.customFields = customFields;
	}

	/** The custom fields of a record type; empty if they were not changed, or cannot be read. */
	customFieldsOf(collection: string): Field[] {
		return this.customFields.get(collection)?.fields ?? [];
	}

	/** Returns the fields that an undo may write and that link to other records, by name. */
	linkFieldsOf({ history: { collection }, action }: RecordUndo): ReadonlyMap<string, Field> {
		const verb = action === 'create' ? 'create' : 'update';
		return getOrCreate(this.linkFields, `${verb} ${collection}`, () => {
			const fields = [...(this.descriptions.get(collection)?.[verb]?.fields ?? []), ...this.customFieldsOf(collection)];
			return new Map(fields.filter(isRecordLink).map((field) => [field.name, field]));
		});
	}

	/** Whether a custom field still exists and is writable; true if the custom fields cannot be read. */
	canWriteCustomField({ history: { collection } }: RecordUndo, name: string): boolean {
		return this.customFields.get(collection)?.fields.some((field) => field.name === name) ?? true;
	}
}

const concernsCustomFields = ({ fields, deletion, problem }: RecordHistory): boolean =>
	problem === undefined &&
	([...fields.keys()].some((name) => topLevelName(name) === allCustomFields) || !hasNoValue(deletion?.record[allCustomFields]));
