import type { Connection } from '../api/connection';
import { resultOrError } from '../base/results';
import { isObject } from '../base/json';
import { collectionName, type Collection } from '../api/http/path';
import { asSentence } from '../api/http/errorWords';
import { isLink, linkedIdsIn, linkTarget, withReplacedIds } from '../api/openapi/linkFields';
import { isDigits, valueShape } from '../fields/fieldKinds';
import { apiValue } from '../fields/convertValue';
import { type ConvertedValue, type Field, FieldError, fieldNamed } from '../fields/field';
import type { NameResult } from '../lookUp/byName';
import { foundIn } from '../lookUp/lookUp';
import { hasNumbers, hasText, isName, mayBeId, namesRecord, parseName } from '../lookUp/names';
import { choiceOf, type Part, partNamed, partsWithIds } from '../lookUp/parts';
import type { MissingTargets } from '../model';
import { foldedText } from '../values/foldedText';
import type { FoundRecords, LinkResults } from './findNamedRecords';

/**
 * Replaces names by ids in the value of a link to records, or to their parts.
 *
 * @param values all values of the item
 * @throws Error in the user's words if no record has the name, or several have it
 */
export function replaceNames(named: LinkResults, { field, converted, newNamesOf }: ConvertedValue, values: ConvertedValue[]): unknown {
	if (!isLink(field)) return converted;
	refuseText(field, converted);
	const owners = field.part === undefined ? [] : ownersIn(named, field, values);
	return withReplacedIds(field, converted, (target, nameOrId) => {
		const text = hasText(nameOrId) ? nameOrId.trim() : nameOrId;
		if (named.source !== undefined) refuseNumber(field, String(text), named.records.get(target));
		if (field.part === undefined) return recordId(named, field, target, text, newNamesOf?.has(target));
		return partId(field, named.parts.get(target), text, owners);
	});
}

/** Refuses a number that is no known ID of the other system: a record of the CRM with that ID would be another one. */
function refuseNumber(field: Field, text: string, found: FoundRecords | undefined): void {
	if (!isDigits(text) || found?.crmIds.has(text)) return;
	throw new FieldError(field, `“${text}” is not known as an ID of the other system. If it is an ID of the CRM, enter ${text} → id:${text} in Values In → Value Map.`);
}

/** Refuses text in a field that takes links to records of several types. */
function refuseText(field: Field, value: unknown): void {
	const [collection] = field.linksTo ?? [];
	if (collection === undefined || valueShape(field) !== 'object') return;
	const wrong = [value ?? []].flat().find((link) => !isObject(link));
	if (wrong === undefined) return;
	throw new FieldError(field, `“${String(wrong)}” is not a link. Use { "resource": "${collectionName(collection)}", "id": "…" }.`);
}

/** The ids of the records to which a part may belong, which another value of the item names; empty if unknown. */
function ownersIn(named: LinkResults, part: Field, values: ConvertedValue[]): unknown[] {
	const owner = values.findLast((value) => isOwner(value, part));
	if (owner && owner.converted === undefined) throw new FieldError(part, `the value of ${owner.field.label}, to which it belongs, is refused.`);
	return owner ? [replaceNames(named, owner, values)].flat().filter((id) => id !== undefined && id !== null) : [];
}

/** Whether a value links to the records to which the parts of another field belong: a custom field may be for another one. */
const isOwner = ({ field }: ConvertedValue, part: Field): boolean =>
	field.part === undefined && field.target === part.target && field.path.length === part.path.length;

export const namesNewRecord = ({ records }: LinkResults, { field, converted }: ConvertedValue): boolean =>
	linkedIdsIn(field, converted).some(([target, id]) => records.get(target)?.newNames.has(String(id).trim()) === true);

/** Whether a value names a part that would be added: alone, if parts are added, or with its record. */
export function namesNewPart(named: LinkResults, value: ConvertedValue, values: ConvertedValue[], { addPart, partsOfNew }: MissingTargets): boolean {
	const { field, converted } = value;
	if (field.part === undefined || !namesRecord(field, converted)) return false;
	const newOwner = values.find((other) => isOwner(other, field) && namesNewRecord(named, other));
	if (addPart) return newOwner !== undefined || missingPart(named, value, values) !== undefined;
	const parts = newOwner ? partsOfNew?.(field.target!, String(newOwner.converted)) ?? [] : [];
	return parts.some((name) => foldedText(name) === foldedText(parseName(converted).name));
}

/** Adds the first part, such as a stage, that each item names and its record lacks, before names are replaced. */
export async function addMissingParts(
	api: Connection,
	named: LinkResults,
	items: ConvertedValue[][],
	addPart: NonNullable<MissingTargets['addPart']>,
): Promise<void> {
	for (const values of items) {
		const missing = values.map((value) => missingPart(named, value, values)).find((part) => part !== undefined);
		if (!missing) continue;
		const { collection, parts, name, owner: { ownerId, ownerName } } = missing;
		const refuse = (error: Error): undefined => void api.notices.add(`“${name}” was not created: ${error.message}`);
		const part = await addPart(collection, name, { id: ownerId, name: ownerName }).catch(refuse);
		if (part) parts.push({ ...part, ownerId, ownerName, isUnique: true });
	}
}

/** The part that a value names and its record lacks, if it is certain which record that is. */
function missingPart(named: LinkResults, { field, converted: text }: ConvertedValue, values: ConvertedValue[]) {
	const parts = named.parts.get(linkTarget(field)!);
	if (!Array.isArray(parts) || !namesRecord(field, text)) return undefined;
	const owners = resultOrError(() => ownersIn(named, field, values));
	if (owners instanceof Error) return undefined;
	const [ownerId, ...others] = owners.length > 0 ? owners : [...new Set(parts.map((part) => part.ownerId))];
	const owner = parts.find((part) => part.ownerId === ownerId);
	const isMissing = others.length === 0 && 'notFound' in partNamed(parts, text, [ownerId]);
	return owner && isMissing ? { collection: field.target!, parts, owner, name: parseName(text).name } : undefined;
}

/**
 * The id of the record that a value stands for. A text is read as, in this order: the ID of a record that other rows will
 * become; an ID of the other system; an ID of the CRM that looks like one; a name of a record, or of one that other rows will
 * become; and, if no record has that name, the name of a record to create, or an ID in any form, unless it is certainly a
 * name, or the values come from another system: it may have the same.
 *
 * @throws FieldError if there is none or several
 */
function recordId({ linkChecks, records, source }: LinkResults, field: Field, collection: Collection, value: unknown, isNewName = false): unknown {
	const { crmIds, hasSource, byName, idExists } = records.get(collection)!;
	const text = String(value);
	const crmId = crmIds.get(text);
	if (crmId !== undefined) return crmId === text ? value : typedId(field, crmId);
	const result = namesRecord(field, value) ? byName.get(text) : undefined;
	if (result && 'found' in result) return result.found;
	const mayBeSent = !isNewName && source === undefined && !hasNumbers(field) && mayBeId(text) && (linkChecks !== 'names' || idExists.get(text) === true);
	if (result && ('several' in result || 'refused' in result || 'notCreated' in result || !mayBeSent)) throw new UnclearName(field, collection, text, result);
	const id = plainId(field, value);
	if (idExists.get(String(id)) !== false) return id;
	const [wrong, elsewhere] = [result ? 'name or ID' : 'ID', hasSource ? ', here or in the other system' : ''];
	throw new FieldError(field, `no record of ${collectionName(collection)} has the ${wrong} “${String(id)}”${elsewhere}.`);
}

/** The id of the part that a value names, or of which it is the id. @throws FieldError if there is none or several */
function partId(field: Field, parts: Part[] | Error | undefined, value: unknown, owners: unknown[]): unknown {
	const collection = collectionName(field.target!);
	const refusal = (problem: string) => new FieldError(field, `“${String(value)}” ${problem}`);
	const notFound = (among: Part[]) => refusal(`does not match any of the ${field.part} in ${collection}. ${choiceOf(among, owners)}`);
	if (!namesRecord(field, value)) {
		const id = plainId(field, value);
		if (!Array.isArray(parts) || parts.some((part) => String(part.id) === String(id))) return id;
		throw notFound(parts);
	}
	if (!Array.isArray(parts)) throw refusal(`could not be looked up in ${collection}: ${parts?.message}`);
	const result = partNamed(parts, value, owners);
	if ('found' in result) return result.found;
	if (!('several' in result)) throw notFound(parts);
	const several = `is the name of several ${field.part} in ${collection}: ${partsWithIds(parts, result.several)}.`;
	throw refusal(`${several} Also map the field that links to ${collection}, or use the ID of the right one.`);
}

/** The id that a value stands for if it is no name. @throws Error in the user's words if ids are numbers, and it is none */
function plainId(field: Field, value: unknown): unknown {
	if (!isName(field, value)) return value;
	const { field: nameField, name } = parseName(value);
	return typedId(field, nameField === 'id' ? name : value);
}

/** @throws Error in the user's words if ids are numbers, and it is none */
const typedId = (field: Field, id: string): unknown =>
	hasNumbers(field) ? apiValue(fieldNamed(field.name, { label: field.label, kind: 'number' }), id, 'utc') : id;

/** No record has the name, or several have it. */
export class UnclearName extends FieldError {
	/** Where the name was looked up, and the records that have it. */
	readonly lookUp: { collection: Collection; name: string; ids: unknown[] };
	/** The error with which no record was added for it, if any. */
	readonly whyNotAdded: unknown;

	constructor(field: Pick<Field, 'name' | 'label'>, collection: Collection, name: string, result: NameResult) {
		super(field, `“${name}” ${recordProblem(collection, name, result)}`);
		this.lookUp = { collection, name, ids: foundIn(result) };
		this.whyNotAdded = 'notCreated' in result ? result.notCreated : undefined;
	}
}

function recordProblem(collection: Collection, name: string, result: NameResult): string {
	const nouns = collectionName(collection);
	if ('failed' in result) {
		const reason = asSentence(result.failed.message);
		return `could not be looked up in ${nouns}: ${reason} Use the ID; if this is the ID, write id:${name}.`;
	}
	if ('refused' in result) return `could not be looked up in ${nouns}: ${result.refused.message}`;
	if ('notCreated' in result) return `does not exist in ${nouns}, and was not created: ${result.notCreated.message}`;
	if ('several' in result) {
		const ids = result.several.slice(0, 5).map(String).join(', ');
		return `may match several records of ${nouns}, such as ${ids}. Use the ID of the right one.`;
	}
	if (severalIds.test(name)) return 'are several IDs, but the field takes one. Say which in Values In → Value Map, such as 1;2 → 1.';
	return `does not match any record of ${nouns}. Correct it, or use the ID of a record.`;
}

const severalIds = /^\w*\d[\w-]*(?:[;,|]\s*\w*\d[\w-]*)+$/;
