import { isRecordLink } from '../api/openapi/linkFields';
import type { Collection } from '../api/http/path';
import { getOrCreate } from '../base/maps';
import { externalId, type Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import type { Column } from './columns';
import { meaningText, wordsOf, type AcceptedFields, type Meaning } from './fieldNames';
import { isPartOfAddress, whichAddress, UsualNames, withoutSuffix } from './usualNames';

export type AssignedColumn = Column & Destination;

/** Where the values of a column go, and why, in the user's words. */
type Destination = { why: string } & (
	/** A field, or an object of fields, which has its name instead. The column is renamed if it has another name than the field. */
	| { meaning: Meaning; isRenamed?: true; nowhere?: undefined }
	| { meaning?: undefined; isRenamed?: undefined; nowhere: Nowhere }
);

type Nowhere =
	/** No field has the column's name. Its usual meaning may decide, or a new field. */
	| 'unknown'
	/** Only the service fills the field of its name. */
	| 'readOnly'
	/** Its name or its values fit no single field, or a column that fits better goes there. */
	| 'unclear'
	/** Another column goes into the field of its own name. */
	| 'replaced'
	| 'byChoice';

export interface AssignableFields extends AcceptedFields {
	collection: Collection;
	/** The system that the columns come from, if its IDs are kept. */
	source?: string;
	/** The names of the links that IDs of that system can lead to, and whether it has records there. */
	sourceLinks?: ReadonlyMap<string, boolean>;
}

/** What the user has chosen for a column: the field’s name or label, or nothing to leave the column out. */
type ChosenColumns = ReadonlyMap<string, string | undefined>;

/**
 * Finds the fields of columns: by the user's choice; by IDs of the other system; by the names and labels of fields; and by
 * the usual names of fields in other systems, if a single filled column has one. Columns whose values are the same count as
 * one.
 *
 * @throws Error in the user's words if a chosen field does not exist
 */
export function assignColumns(columns: Column[], fields: AssignableFields, chosen: ChosenColumns = new Map()): AssignedColumn[] {
	const usual = new UsualNames(fields);
	const destinationOf = (column: Column): Destination =>
		(chosen.has(column.name) ? chosenDestination(usual, column.name, chosen.get(column.name)) : namedDestination(usual, column, fields));
	const assigned = columns.map((column): AssignedColumn => ({ ...column, ...destinationOf(column) }));
	const basis: Basis = { ...fields, chosen, usual, columns: assigned };
	for (const column of assigned) if (chosen.has(column.name)) makeRoomFor(column, basis);
	assignFitting(columnsOfIds(basis), 'IDs of the other system', basis);
	assignFitting(columnsByUsualName(basis), 'Usual name of this field', basis);
	for (const column of assigned) noteReadOnly(column, basis);
	return assigned;
}

interface Basis extends AssignableFields {
	chosen: ChosenColumns;
	usual: UsualNames;
	/** Their destinations change until all are known. */
	columns: AssignedColumn[];
}

const goesInto = ({ meaning }: AssignedColumn, field: Field): boolean => typeof meaning === 'object' && meaning.name === field.name;

type FittingColumns = Map<Field, AssignedColumn[]>;

/** Sends the first of the columns that fit a field there, if they have the same values; other columns make room. */
function assignFitting(byField: FittingColumns, why: string, basis: Basis): void {
	for (const [field, fitting] of byField) {
		const [first, ...others] = fitting as [AssignedColumn, ...AssignedColumn[]];
		const isTaken = basis.columns.some((column) => column.filled > 0 && goesInto(column, field));
		const isClear = others.every(({ digest }) => digest === first.digest);
		const whyNot = ({ name }: AssignedColumn): string => {
			if (isTaken) return `Another column goes into “${field.label}” already`;
			if (isClear) return `The same as “${first.name}”`;
			const rivals = fitting.filter((other) => other.name !== name).map((other) => `“${other.name}”`);
			return `${rivals.join(' and ')} would fit “${field.label}”, too: choose one under Exceptions`;
		};
		const isSent = !isTaken && isClear;
		// One that goes into the field of its own name goes on doing so.
		for (const column of isSent ? others : fitting) if (column.meaning === undefined) leaveOut(column, whyNot(column));
		if (!isSent) continue;
		Object.assign(first, { nowhere: undefined, meaning: field, isRenamed: true, why });
		makeRoomFor(first, basis);
	}
}

const leaveOut = (column: AssignedColumn, why: string, nowhere: Nowhere = 'unclear'): AssignedColumn =>
	Object.assign(column, { meaning: undefined, isRenamed: undefined, nowhere, why });

/** Keeps other columns out of the field of a renamed one: one would overwrite the other. @throws Error in the user's words if both were chosen */
function makeRoomFor({ name, meaning }: AssignedColumn, { columns, chosen }: Basis): void {
	for (const other of columns) {
		const isSame = meaning !== undefined && other.meaning !== undefined && meaningText(other.meaning) === meaningText(meaning);
		if (other.name === name || !isSame) continue;
		if (chosen.has(other.name)) throw new Error(`Exceptions: two columns go into “${meaningText(meaning)}”. Remove one of them.`);
		leaveOut(other, `“${name}” goes into this field`, 'replaced');
	}
}

function chosenDestination(usual: UsualNames, column: string, field: string | undefined): Destination {
	if (field === undefined) return { nowhere: 'byChoice', why: 'Left out by choice' };
	const [meaning, ...others] = usual.meaningsOf(field);
	if (meaning !== undefined && others.length === 0) return { meaning, isRenamed: true, why: 'Chosen' };
	throw new Error(`Exceptions: the CRM has no single field “${field}” for the column “${column}”. Choose another one. Nothing was written.`);
}

const unknownName: Destination = { nowhere: 'unknown', why: 'No field has this name' };
const onlyByService = { nowhere: 'readOnly' as const, why: 'Only the CRM fills this field' };

/** By the name or label of a field alone. */
function namedDestination(usual: UsualNames, { name, samples }: Column, { recordFieldNames, recordFieldWords }: AcceptedFields): Destination {
	const [meaning, ...others] = usual.meaningsOf(name);
	if (others.length > 0) {
		const fields = [meaning!, ...others].map((other) => `“${meaningText(other)}”`);
		return { meaning: meaning!, why: `Could mean any of ${fields.join(', ')}: choose one under Exceptions` };
	}
	const isText = samples.some((value) => typeof value === 'string' && !/^\s*[{[]/.test(value));
	if (typeof meaning === 'string' && isText) {
		return { nowhere: 'unclear', why: `“${name}” has several parts, each of which needs a column of its own` };
	}
	// Such as all emails of a contact, each with its purpose.
	if (typeof meaning === 'object' && valueShape(meaning) === 'object' && isText) return unknownName;
	if (meaning !== undefined) return { meaning, why: 'Name of this field' };
	return recordFieldNames.has(name) || recordFieldWords.has(wordsOf(name)) ? onlyByService : unknownName;
}

const dealStatus = new Set(['status', 'statustype', 'statut', 'estado', 'stato']);

/** Says whether a column without a field has the name of one that only the CRM fills, as exports write it. */
function noteReadOnly(column: AssignedColumn, { usual, collection, recordFieldNames, recordFieldWords }: Basis): void {
	const { name, nowhere } = column;
	if (nowhere !== 'unknown' && nowhere !== 'readOnly') return;
	const isStatus = collection === '/deals' && recordFieldNames.has('status') && usual.isAmong(name, dealStatus);
	if (isStatus) leaveOut(column, `${onlyByService.why}: the stage of a deal says whether it is won or lost`);
	else if (usual.isAmong(name, recordFieldWords)) Object.assign(column, onlyByService);
}

/**
 * The filled columns with IDs of the other system, by the field of these: the record's own (`Id`), and links (`Company ID`,
 * `AccountId`, `Associated Contact IDs`). Names of the linked records give way to them if the CRM has records of the system.
 */
function columnsOfIds({ columns, fields, source = '', sourceLinks, chosen, usual }: Basis): FittingColumns {
	const byField: FittingColumns = new Map();
	if (!sourceLinks) return byField;
	const filled = columns.filter((column) => column.filled > 0);
	const ownId = fields.find(({ name }) => name === externalId.name);
	for (const column of filled) {
		const ids = chosen.has(column.name) ? undefined : idsIn(column, source);
		if (!ids) continue;
		const isOwn = column.meaning === undefined && areOwn(ids, filled, usual);
		const field = isOwn ? ownId : linkBy(ids, fields, usual);
		if (!field) continue;
		const isNamed = filled.some((other) => other !== column && !/id$/i.test(other.name) && usual.fieldOf(other.name) === field);
		if (isOwn || sourceLinks.get(field.name) || (sourceLinks.has(field.name) && !isNamed)) getOrCreate(byField, field, () => []).push(column);
		else if (column.name !== field.name) leaveOut(column, `The CRM does not know the other system’s IDs of “${field.label}”`);
	}
	for (const [field, [first]] of byField) {
		const others = columns.filter((column) => goesInto(column, field) && !chosen.has(column.name));
		for (const other of others) leaveOut(other, `“${first!.name}” goes into this field`);
	}
	return byField;
}

interface NamedIds {
	/** The name without what exports add. */
	name: string;
	/** Whose they are: `Company` of `Company Record ID`, nothing of `Id`. */
	of: string;
	areSeveral: boolean;
}

function idsIn(column: AssignedColumn, source: string): NamedIds | undefined {
	const name = withoutSuffix(column.name).replace(new RegExp(`^${source}[\\s_-]+`, 'i'), '');
	const [, of, plural] = /^(.*?)(?:[\s_.:>-]*record)?[\s_.:>-]*(?:id|identifiant)(s?)$/i.exec(name) ?? [];
	return of === undefined ? undefined : { name, of, areSeveral: plural !== '' };
}

/** Whether IDs are the records' own: beside a column `Id`, others such as `Deal ID` are not. */
function areOwn({ name, of }: NamedIds, filled: AssignedColumn[], usual: UsualNames): boolean {
	if (of === '') return true;
	return usual.fieldOf(name)?.name === externalId.name && !filled.some((column) => /^id$/i.test(column.name));
}

/** The link that IDs lead along; of several IDs, the field of several links if there is one. */
function linkBy({ name, of, areSeveral }: NamedIds, fields: Field[], usual: UsualNames): Field | undefined {
	const link = [usual.fieldOf(name), usual.fieldOf(of)].find((field) => field && isRecordLink(field));
	const isOfSeveral = (field: Field) => field.target === link?.target && valueShape(field) === 'list' && field.part === undefined;
	return (link && areSeveral ? fields.find(isOfSeveral) : undefined) ?? link;
}

/** The filled columns that have no field yet, by the field that a usual name stands for. */
function columnsByUsualName({ columns, chosen, usual }: Basis): FittingColumns {
	const found = usual.fieldsOf(columns);
	const fitting = columns.flatMap((column, i) => {
		const { field, dependsOnOthers } = found[i]!;
		const mayGoThere = column.nowhere === 'unknown' || (dependsOnOthers && column.nowhere !== undefined && !chosen.has(column.name));
		return mayGoThere && column.filled > 0 && field ? [{ column, field }] : [];
	});
	const assigned = columns.filter(({ meaning, filled }) => filled > 0 && typeof meaning === 'object' && isPartOfAddress(meaning));
	const open = fitting.flatMap(({ column, field }) => (isPartOfAddress(field) ? [column] : []));
	const addresses = new Set([...assigned, ...open].map(({ name }) => whichAddress(name)));
	const ofChoice = assigned.find(({ name }) => chosen.has(name));
	const byField: FittingColumns = new Map();
	for (const { column, field } of fitting) {
		const isOfChoice = ofChoice && whichAddress(ofChoice.name) === whichAddress(column.name);
		// Parts of two addresses would be mixed.
		const isMixed = isPartOfAddress(field) && addresses.size > 1 && !isOfChoice;
		if (isMixed) leaveOut(column, 'Another address is filled, too: choose a column of the right one under Exceptions');
		else getOrCreate(byField, field, () => []).push(column);
	}
	return byField;
}
