import type { Connection } from '../api/connection';
import { linkTarget } from '../api/openapi/linkFields';
import { resultOrError } from '../base/errorOf';
import type { ConvertedValue } from '../fields/field';
import { namesRecord, parseName } from '../lookUp/names';
import { partNamed } from '../lookUp/parts';
import type { MissingTargets } from '../model';
import type { NamedRecords } from './findNamedRecords';
import { isOwner, ownersIn } from './replaceNames';

type PartFor = NonNullable<MissingTargets['partFor']>;

/** Adds to the named records the parts, such as stages, that items name and the records lack. */
export async function addMissingParts(api: Connection, named: NamedRecords, items: ConvertedValue[][], partFor: PartFor): Promise<void> {
	for (const values of items) await addMissingPart(api, named, values, partFor);
}

/** Adds the first part that an item names and its record lacks. */
async function addMissingPart(api: Connection, named: NamedRecords, values: ConvertedValue[], partFor: PartFor): Promise<void> {
	for (const value of values) {
		const missing = missingPart(named, value, values);
		if (!missing) continue;
		const { parts, name, owner: { ownerId, ownerName } } = missing;
		const refuse = (error: Error): undefined => void api.notices.add(`“${name}” was not created: ${error.message}`);
		const part = await partFor(value.field.collection!, name, { id: ownerId, name: ownerName }).catch(refuse);
		if (part) parts.push({ ...part, ownerId, ownerName, isUnique: true });
		return;
	}
}

/** The part that a value names and its record lacks, if it is certain which record that is. */
function missingPart(named: NamedRecords, { field, converted: text }: ConvertedValue, values: ConvertedValue[]) {
	const parts = named.parts.get(linkTarget(field)!);
	if (!Array.isArray(parts) || !namesRecord(field, text)) return undefined;
	if (values.some((other) => other.converted === undefined && isOwner(other, field))) return undefined;
	const owners = resultOrError(() => ownersIn(named, field, values));
	if (owners instanceof Error) return undefined;
	const [ownerId, ...others] = owners.length > 0 ? owners : [...new Set(parts.map((part) => part.ownerId))];
	const owner = parts.find((part) => part.ownerId === ownerId);
	const isMissing = others.length === 0 && 'notFound' in partNamed(parts, text, [ownerId]);
	return owner && isMissing ? { parts, owner, name: parseName(text).name } : undefined;
}
