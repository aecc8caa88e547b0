import { readCustomFieldsIfAllowed } from '../api/customFields';
import type { Field } from '../api/openapi/fields';
import type { Execution } from '../model';
import { itemObjects } from './mappedValues';
import { mappedNames, type Mapping } from './stored';
import { acceptedFieldsByCollection, type AcceptedFields, type AcceptedFieldsOf } from './acceptedFields';

const whole = 'custom_fields';
const prefix = `${whole}.`;
const isCustom = (name: string) => name === whole || name.startsWith(prefix);

/**
 * What the items can give values for, the account's own fields one by one among it: where the
 * records have them and something is given for them.
 *
 * @param fields what the service's description names
 */
export async function fieldsWithCustom(
	job: Execution,
	mapping: Mapping,
	fields: Field[],
): Promise<AcceptedFieldsOf> {
	const description = await job.api.describe(job.resource.path);
	const described = description?.fields.map(({ name }) => name) ?? [];
	const own: AcceptedFields = { fields, recordNames: new Set(described) };
	if (!fields.some(({ name }) => name === whole)) return () => own;

	const namesOf = customNames(job, mapping);
	let untold: Field[] | undefined;
	const read = async (collection: string): Promise<AcceptedFields> => {
		const custom = await readCustomFieldsIfAllowed(job.api, collection);
		if (!custom) {
			untold ??= asGiven(job, namesOf);
			return { ...own, fields: [...fields, ...untold] };
		}
		return {
			fields: merged(mapping, fields, custom.fields),
			recordNames: new Set([...described, ...custom.readOnly]),
		};
	};
	return await acceptedFieldsByCollection(job, read, own, mayNameCustom(job, mapping, namesOf));
}

function merged({ mode }: Mapping, fields: Field[], custom: Field[]): Field[] {
	if (custom.length === 0) return fields;
	// Mapped as a whole, perhaps before there were any, they are still sent.
	if (mode === 'each') return [...fields, ...custom];
	return [...fields.filter(({ name }) => name !== whole), ...custom];
}

type NamesOf = (item: number) => string[];

/** The names of custom fields that an item gives values for: mapped, linked, or in its object. */
function customNames({ n8n }: Execution, mapping: Mapping): NamesOf {
	const named = mappedNames(mapping).filter(isCustom);
	if (mapping.mode === 'each') return () => named;

	const read = itemObjects(n8n, mapping);
	return (item) => {
		try {
			return [...named, ...Object.keys(read(item)).filter(isCustom)];
		} catch {
			// What cannot be read fails when its turn comes.
			return named;
		}
	};
}

/** The custom fields that the items name, where nobody tells what they are. */
function asGiven({ n8n }: Execution, namesOf: NamesOf): Field[] {
	const names = new Set(n8n.getInputData().flatMap((_, item) => namesOf(item)));
	return [...names].filter((name) => name.startsWith(prefix)).map((name) => ({
		name,
		path: [whole, name.slice(prefix.length)],
		label: name,
		description: '',
		// A choice that is unknown passes as it is.
		kind: 'choice',
		required: false,
		// A record may be picked for any of them; which records it refers to is not known.
		reference: '',
	}));
}

/** As many JSON objects are looked at before: the engine takes as long for them as a request does. */
const mostRead = 100;

function mayNameCustom(
	{ n8n }: Execution,
	mapping: Mapping,
	namesOf: NamesOf,
): (item: number) => boolean {
	const isNamed = mappedNames(mapping).some(isCustom);
	const isLong = mapping.mode === 'json' && n8n.getInputData().length > mostRead;
	return (item) => isNamed || isLong || namesOf(item).length > 0;
}
