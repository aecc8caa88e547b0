import { customFieldsIfTold } from '../api/customFields';
import type { Field } from '../api/fields';
import type { Job } from '../model';
import { objectsOf } from './given';
import type { Mapping } from './mapping';
import { takenByCollection, type Taken, type TakenBy } from './taken';

const whole = 'custom_fields';
const prefix = `${whole}.`;
const isCustom = (name: string) => name === whole || name.startsWith(prefix);

/**
 * What the items can give values for, the account's own fields one by one among it: where the
 * records have them and something is given for them.
 *
 * @param fields what the service's description names
 */
export async function withCustomFields(
	job: Job,
	mapping: Mapping,
	fields: Field[],
): Promise<TakenBy> {
	const description = await job.api.describe(job.resource.path);
	const described = description?.fields.map(({ name }) => name) ?? [];
	const own: Taken = { fields, recordNames: new Set(described) };
	if (!fields.some(({ name }) => name === whole)) return () => own;

	const read = async (collection: string): Promise<Taken> => {
		const custom = await customFieldsIfTold(job.api, collection);
		if (!custom) return { ...own, fields: [...fields, ...asGiven(mapping)] };
		return {
			fields: merged(mapping, fields, custom.fields),
			recordNames: new Set([...described, ...custom.readOnly]),
		};
	};
	return await takenByCollection(job, read, own, mayNameCustom(job, mapping));
}

function merged({ mode }: Mapping, fields: Field[], custom: Field[]): Field[] {
	if (custom.length === 0) return fields;
	// Mapped as a whole, perhaps before there were any, they are still sent.
	if (mode === 'each') return [...fields, ...custom];
	return [...fields.filter(({ name }) => name !== whole), ...custom];
}

/** The custom fields that were mapped by hand, where nobody tells what they are. */
function asGiven(mapping: Mapping): Field[] {
	const names = mapping.mode === 'each' ? mapping.given.map(([name]) => name) : [];
	return names.filter((name) => name.startsWith(prefix)).map((name) => {
		const path = [whole, name.slice(prefix.length)];
		// A choice that is unknown passes as it is.
		return { name, path, label: name, description: '', kind: 'choice', required: false };
	});
}

/** As many JSON objects are looked at before: the engine takes as long for them as a request does. */
const mostRead = 100;

function mayNameCustom({ n8n }: Job, mapping: Mapping): (item: number) => boolean {
	const isLinked = mapping.linked.some(({ field }) => isCustom(field));
	const isMapped = mapping.mode === 'each' && mapping.given.some(([name]) => isCustom(name));
	if (isLinked || isMapped) return () => true;
	if (mapping.mode === 'each') return () => false;
	if (mapping.mode === 'json' && n8n.getInputData().length > mostRead) return () => true;

	const read = objectsOf(n8n, mapping);
	return (item) => {
		try {
			return Object.keys(read(item)).some(isCustom);
		} catch {
			// What cannot be read fails when its turn comes.
			return false;
		}
	};
}
