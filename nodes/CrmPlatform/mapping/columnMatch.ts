import type { IDataObject } from 'n8n-workflow';

import { isRecordLink } from '../api/openapi/linkFields';
import type { Collection } from '../api/http/path';
import { getOrCreate } from '../base/maps';
import { externalId, type Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import { isBlank } from '../values/blank';
import { meaningText, wordsOf, type Meaning } from './fieldNames';
import { isAmbiguousInItems, isPartOfAddress, kindOfAddress, ForeignNames, withoutSuffix } from './foreignNames';

/** A column of a table, or a name that its records have. */
export interface Column {
	name: string;
	/** The number of rows in which it is filled. */
	filled: number;
	/** Some of its values. */
	samples: unknown[];
	/** Equal for columns with the same values in the same rows. */
	digest: number;
}

const maxSamples = 20;
/** Maximum characters of a sample. */
const maxSampleLength = 100;

/** Adds the values of a row to the columns. @param also takes each value that is not blank */
export function addToColumns(columns: Map<string, Column>, row: number, content: IDataObject, also?: (column: string, value: unknown) => void): void {
	for (const [name, value] of Object.entries(content)) {
		const column = columnNamed(columns, name);
		if (isBlank(value)) continue;
		const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
		const isLong = typeof value === 'string' && text.length > maxSampleLength;
		column.filled += 1;
		if (column.samples.length < maxSamples) column.samples.push(isLong ? `${text.slice(0, maxSampleLength)}…` : value);
		column.digest = digested(Math.imul(column.digest ^ row, 0x01000193), text);
		also?.(name, value);
	}
}

export const columnNamed = (columns: Map<string, Column>, name: string): Column => getOrCreate(columns, name, () => ({ name, filled: 0, samples: [], digest: 0 }));

/** FNV-1a (RFC 9923). */
function digested(digest: number, text: string): number {
	let hash = digest ^ 0x811c9dc5;
	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return hash;
}

/** Where the values of a column go. */
export interface ColumnMatch extends Column {
	/** The field; absent if the values go nowhere. An object of fields has its name instead. */
	meaning?: Meaning;
	/** Whether the field is found by another name than its own, so that the column has to be renamed. */
	isRenamed?: true;
	/** Why, in the user's words. */
	why: string;
	/** Whether its name alone found no field, so that its usual meaning may still decide. */
	isOpen?: true | undefined;
	isChosen?: true;
	/** Whether only the service fills the field. */
	isReadOnly?: true | undefined;
	/** Whether another column goes into the field of this name. */
	isReplaced?: true;
}

/** The fields that columns can go into. */
export interface MatchedFields {
	/** Of the records. */
	collection: Collection;
	fields: Field[];
	/** The names of all fields of a record, read-only fields included. */
	recordFieldNames: ReadonlySet<string>;
	/** The words of their names and labels. */
	recordFieldWords: ReadonlySet<string>;
	/** The system that the columns come from, if its IDs are kept. */
	source?: string;
	/** The names of the links that IDs of that system can lead to, and whether it has records there. */
	sourceLinks?: ReadonlyMap<string, boolean>;
}

/** What the user has chosen for a column: the field’s name or label, or nothing to leave the column out. */
type ChosenColumns = ReadonlyMap<string, string | undefined>;

/**
 * Finds the fields of columns: by the user's choice; by the names and labels of fields; and by the usual names of fields
 * in other systems, if a single filled column has one. Columns whose values are the same count as one.
 *
 * @throws Error in the user's words if a chosen field does not exist
 */
export function matchColumns(columns: Column[], target: MatchedFields, chosen: ChosenColumns = new Map()): ColumnMatch[] {
	const usual = new ForeignNames(target);
	const matches = columns.map((column): ColumnMatch => ({
		...column,
		...(chosen.has(column.name) ? chosenMatch(usual, column.name, chosen.get(column.name)) : namedMatch(usual, column, target)),
	}));
	for (const match of matches.filter(({ isChosen }) => isChosen)) yieldTo(match, matches);
	for (const [field, fitting] of columnsOfIds(matches, usual, target)) settle(field, fitting, matches, 'IDs of the other system');
	for (const [field, fitting] of columnsByForeignName(matches, usual)) settle(field, fitting, matches, 'Usual name of this field');
	const hasStatus = target.collection === '/deals' && target.recordFieldNames.has('status');
	for (const match of matches.filter(({ isOpen }) => isOpen)) {
		if (hasStatus && usual.isAmong(match.name, dealStatus)) Object.assign(match, onlyByStage);
		else if (usual.isAmong(match.name, target.recordFieldWords)) Object.assign(match, onlyByService);
	}
	return matches;
}

/**
 * The fields of names in items that only usual names mean: name → field. Names that they replace have none.
 *
 * @param objects the items
 * @param otherNames names with other purposes
 */
export function foreignNamesIn(objects: IDataObject[], target: MatchedFields, otherNames: string[]): Map<string, Field | undefined> {
	const usual = new ForeignNames(target);
	const { meaningsOf } = usual;
	const names = new Set<string>();
	for (const object of objects) for (const name of Object.keys(object)) names.add(name);
	if (![...names].some((name) => usual.fieldOf(name) !== meaningsOf(name)[0])) return new Map();
	const columns = new Map<string, Column>();
	for (const [i, object] of objects.entries()) addToColumns(columns, i, object);
	const left = [...names].filter((name) => isAmbiguousInItems(name) && meaningsOf(name).length === 0);
	const matches = matchColumns([...columns.values()], target, new Map([...otherNames, ...left].map((name) => [name, undefined])));
	const fields = new Map<string, Field | undefined>();
	for (const { name, meaning, isRenamed, isReplaced } of matches) {
		if (isReplaced) fields.set(name, undefined);
		else if (isRenamed && typeof meaning === 'object') fields.set(name, meaning);
	}
	return fields;
}

const goesInto = ({ meaning }: ColumnMatch, field: Field): boolean => typeof meaning === 'object' && meaning.name === field.name;

/** Sends the first of the columns that fit a field there, if they have the same values; other columns make room. */
function settle(field: Field, fitting: ColumnMatch[], matches: ColumnMatch[], why: string): void {
	const [first] = fitting;
	const isTaken = matches.some((match) => match.filled > 0 && goesInto(match, field));
	const isClear = !isTaken && fitting.every(({ digest }) => digest === first!.digest);
	for (const match of fitting) {
		const rivals = fitting.filter((other) => other !== match).map(({ name }) => `“${name}”`);
		if (isTaken) decide(match, `Another column goes into “${field.label}” already`);
		else if (!isClear) decide(match, `${rivals.join(' and ')} would fit “${field.label}”, too: choose one under Exceptions`);
		else if (match !== first) decide(match, `The same as ${rivals[0]}`);
	}
	if (!isClear) return;
	first!.meaning = field;
	first!.isRenamed = true;
	decide(first!, why);
	yieldTo(first!, matches);
}

function decide(match: ColumnMatch, why: string): void {
	delete match.isOpen;
	match.why = why;
}

/** Sends a column nowhere. */
function leaveOut(match: ColumnMatch, why: string): void {
	delete match.meaning;
	decide(match, why);
}

/**
 * Keeps other columns out of the field of a column that is renamed: one would overwrite the other.
 *
 * @throws Error in the user's words if both were chosen
 */
function yieldTo(match: ColumnMatch, matches: ColumnMatch[]): void {
	const { meaning, name } = match;
	for (const other of matches) {
		if (other === match || meaning === undefined || other.meaning === undefined || meaningText(other.meaning) !== meaningText(meaning)) continue;
		if (other.isChosen) throw new Error(`Exceptions: two columns go into “${meaningText(meaning)}”. Remove one of them.`);
		leaveOut(other, `“${name}” goes into this field`);
		other.isReplaced = true;
	}
}

type Match = Omit<ColumnMatch, keyof Column>;

function chosenMatch({ meaningsOf }: ForeignNames, column: string, field: string | undefined): Match {
	if (field === undefined) return { isChosen: true, why: 'Left out by choice' };
	const [meaning, ...others] = meaningsOf(field);
	if (meaning !== undefined && others.length === 0) return { meaning, isRenamed: true, isChosen: true, why: 'Chosen' };
	throw new Error(`Exceptions: the CRM has no single field “${field}” for the column “${column}”. Choose another one. Nothing was written.`);
}

const unknownName = { isOpen: true as const, why: 'No field has this name' };
const onlyByStage = { isOpen: undefined, isReadOnly: undefined, why: 'Only the CRM fills this field: the stage of a deal says whether it is won or lost' };
const dealStatus = new Set(['status', 'statustype', 'statut', 'estado', 'stato']);
const onlyByService = { isOpen: true as const, isReadOnly: true as const, why: 'Only the CRM fills this field' };

export const hasUnknownName = ({ isOpen, isReadOnly }: ColumnMatch): boolean => isOpen === true && !isReadOnly;

/** By the name or label of a field alone. */
function namedMatch({ meaningsOf }: ForeignNames, { name, samples }: Column, { recordFieldNames, recordFieldWords }: MatchedFields): Match {
	const [meaning, ...others] = meaningsOf(name);
	if (others.length > 0) {
		const fields = [meaning!, ...others].map((other) => `“${meaningText(other)}”`);
		return { meaning: meaning!, why: `Could mean any of ${fields.join(', ')}: choose one under Exceptions` };
	}
	const isText = samples.some((value) => typeof value === 'string' && !/^\s*[{[]/.test(value));
	if (typeof meaning === 'string' && isText) return { why: `“${name}” has several parts, each of which needs a column of its own` };
	// Such as all emails of a contact, each with its purpose.
	if (typeof meaning === 'object' && valueShape(meaning) === 'object' && isText) return unknownName;
	if (meaning !== undefined) return { meaning, why: 'Name of this field' };
	return recordFieldNames.has(name) || recordFieldWords.has(wordsOf(name)) ? onlyByService : unknownName;
}

/**
 * The filled columns with IDs of the other system, by the field of these: the record's own (`Id`), and links (`Company ID`,
 * `AccountId`, `Associated Contact IDs`). Names of the linked records give way to them if the CRM has records of the system.
 */
function columnsOfIds(matches: ColumnMatch[], usual: ForeignNames, target: MatchedFields): Map<Field, ColumnMatch[]> {
	const { fields, source = '', sourceLinks } = target;
	const byField = new Map<Field, ColumnMatch[]>();
	if (!sourceLinks) return byField;
	const filled = matches.filter((match) => match.filled > 0);
	const ownId = fields.find(({ name }) => name === externalId.name);
	for (const match of filled) {
		const ids = match.isChosen ? undefined : idsIn(match, source);
		if (!ids) continue;
		const isOwn = match.meaning === undefined && areOwn(ids, filled, usual);
		const field = isOwn ? ownId : linkBy(ids, fields, usual);
		if (!field) continue;
		const isNamed = filled.some((other) => other !== match && !/id$/i.test(other.name) && usual.fieldOf(other.name) === field);
		if (isOwn || sourceLinks.get(field.name) || (sourceLinks.has(field.name) && !isNamed)) getOrCreate(byField, field, () => []).push(match);
		else if (match.name !== field.name) leaveOut(match, `The CRM does not know the other system’s IDs of “${field.label}”`);
	}
	for (const [field, [first]] of byField) {
		const others = matches.filter((match) => goesInto(match, field) && !match.isChosen);
		for (const match of others) leaveOut(match, `“${first!.name}” goes into this field`);
	}
	return byField;
}

/** What the name of a column of IDs says. */
interface NamedIds {
	/** The name without what exports add. */
	name: string;
	/** Whose they are: `Company` of `Company Record ID`, nothing of `Id`. */
	of: string;
	areSeveral: boolean;
}

function idsIn(match: ColumnMatch, source: string): NamedIds | undefined {
	const name = withoutSuffix(match.name).replace(new RegExp(`^${source}[\\s_-]+`, 'i'), '');
	const [, of, plural] = /^(.*?)(?:[\s_.:>-]*record)?[\s_.:>-]*(?:id|identifiant)(s?)$/i.exec(name) ?? [];
	return of === undefined ? undefined : { name, of, areSeveral: plural !== '' };
}

/** Whether IDs are the records' own: beside a column `Id`, others such as `Deal ID` are not. */
function areOwn({ name, of }: NamedIds, filled: ColumnMatch[], usual: ForeignNames): boolean {
	if (of === '') return true;
	return usual.fieldOf(name)?.name === externalId.name && !filled.some((match) => /^id$/i.test(match.name));
}

/** The link that IDs lead along; of several IDs, the field of several links if there is one. */
function linkBy({ name, of, areSeveral }: NamedIds, fields: Field[], usual: ForeignNames): Field | undefined {
	const link = [usual.fieldOf(name), usual.fieldOf(of)].find((field) => field && isRecordLink(field));
	const isOfSeveral = (field: Field) => field.collection === link?.collection && valueShape(field) === 'list' && field.part === undefined;
	return (link && areSeveral ? fields.find(isOfSeveral) : undefined) ?? link;
}

/** The filled columns that have no field yet, by the field that a usual name stands for. */
function columnsByForeignName(matches: ColumnMatch[], usual: ForeignNames): Map<Field, ColumnMatch[]> {
	const found = usual.fieldsOf(matches);
	const fitting: Array<{ match: ColumnMatch; field: Field }> = [];
	for (const [i, match] of matches.entries()) {
		const { field, isByOthers } = found[i]!;
		const isOpen = hasUnknownName(match) || (isByOthers && match.meaning === undefined && !match.isChosen);
		if (isOpen && match.filled > 0 && field) fitting.push({ match, field });
	}
	const placed = matches.filter(({ meaning, filled }) => filled > 0 && typeof meaning === 'object' && isPartOfAddress(meaning));
	const open = fitting.filter(({ field }) => isPartOfAddress(field)).map(({ match }) => match);
	const addresses = new Set([...placed, ...open].map(({ name }) => kindOfAddress(name)));
	const chosen = placed.find(({ isChosen }) => isChosen);
	const byField = new Map<Field, ColumnMatch[]>();
	for (const { match, field } of fitting) {
		// Parts of two addresses would be mixed.
		const isOfChosen = chosen && kindOfAddress(chosen.name) === kindOfAddress(match.name);
		const isMixed = isPartOfAddress(field) && addresses.size > 1 && !isOfChosen;
		if (isMixed) decide(match, 'Another address is filled, too: choose a column of the right one under Exceptions');
		else getOrCreate(byField, field, () => []).push(match);
	}
	return byField;
}
