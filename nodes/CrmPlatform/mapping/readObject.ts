import { isExpression, type IDataObject, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';

import { upsertOutcomeField } from '../api/record';
import { isToolCall } from '../api/toolNode';
import { isObject, parsedValue } from '../base/json';
import { listed } from '../base/lists';
import { resultsOrErrors } from '../base/results';
import { checkExact } from '../base/numbers';
import { isPlainObject } from '../base/ownMembers';
import { decideValue, type EvaluatedValue, type GivenBy, type WhenCleared } from '../fields/convertValue';
import { customFieldPrefix, type Field, FieldError, fieldNamed, type InputValue } from '../fields/field';
import { mayBeObjects } from '../fields/fieldKinds';
import type { NodeRun } from '../model';
import { isBlank } from '../values/blank';
import { parseOption } from '../values/parsers';
import { assignColumns } from './assignColumns';
import { addToColumns, type Column } from './columns';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/template';
import { meaningsAmong, meaningText, wordsOf, type AcceptedFields, type Meaning, type MeaningsOf } from './fieldNames';
import type { StoredFields } from './storedFields';
import { inventedFields, nothingToSend, type UnsentValue } from './unsentValues';
import { UsualNames, isAmbiguousInItems } from './usualNames';

/** The values of an item for fields, as it has them. */
export interface ReadItem {
	/** The values of linked records come last. */
	values: EvaluatedValue[];
	unsent: UnsentValue[];
	/** Why none of its values can be sent. */
	refusal?: Error | undefined;
}

/** The objects with the values of the items: the items themselves, or what the parameter's JSON is for each; none for a form. */
export async function objectsOf(n8n: IExecuteFunctions, stored: StoredFields, items: INodeExecutionData[]) {
	if (stored.mode === 'each') return undefined;
	if (stored.mode === 'automatic') return items.map(({ json }) => json);
	if (stored.mode === 'model') return items.map(() => stored.values);
	const { json } = stored;
	const evaluation = new Evaluation(n8n, [{ label: jsonLabel, value: json }]);
	return await resultsOrErrors(items.length, (item) => jsonObject(evaluation.valuesOf(item)[0], isExpression(json)));
}

const jsonLabel = 'Fields (JSON)';

/**
 * @param isEvaluated whether an expression returned the value: a number inserted into its text may have lost digits
 * @throws Error in the user's words if the value is not a JSON object
 */
function jsonObject(value: unknown, isEvaluated: boolean): IDataObject {
	const parsed = parsedValue(value);
	if (isEvaluated && typeof value === 'string' && parsed !== undefined) checkExact(jsonLabel, JSON.parse(value));
	if (isObject(parsed)) return parsed;
	const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
	throw new Error(`${jsonLabel}: “${text.slice(0, 200)}” is not an object such as { "name": "value" }`);
}

/** Returns what reads the members of an object as values of fields; `emptyCells` is what the option Empty Cells is for its item. */
export function objectReader(
	run: NodeRun,
	stored: StoredFields,
	accepted: AcceptedFields,
	{ whenCleared, otherNames, areRows }: { whenCleared: WhenCleared; otherNames: string[]; areRows: boolean | undefined },
): (members: IDataObject, emptyCells: unknown) => ReadItem {
	const { fields, recordFieldNames } = accepted;
	const meaningsOf = meaningsAmong(fields, recordFieldNames);
	// The columns of a file have the names of their fields already.
	const renamed: RenamedMembers = areRows ? new Map() : renamedMembers(run, stored, accepted, otherNames);
	const isTool = isToolCall(run.n8n);
	const areModels = stored.mode === 'model' || (stored.mode === 'json' && isFilledByModel(stored.json));
	return (members, emptyCells) => {
		const givenBy = areModels ? 'model' : giverOf(stored, isTool, emptyCells);
		const object = renameToFields(members, renamed);
		const { values, unknown, notObjects } = fieldsInObject(meaningsOf, object, { givenBy, whenCleared });
		// It would take a success to cover everything that a model has sent.
		const invented = areModels ? unknown.filter((name) => !recordFieldNames.has(name)) : [];
		if (invented.length > 0 && fields.length > 0) throw inventedFields(invented, fields);
		const names = Object.keys(object);
		return {
			values: values.map((fieldValue) => ({ ...fieldValue, givenBy })),
			unsent: [...notObjects.map((name): UnsentValue => ({ reason: 'notObject', name })), ...unsentMembers(accepted, { names, unknown, values })],
			refusal: values.length === 0 && names.length > 0 ? nothingToSend(names, fields) : undefined,
		};
	};
}

/** Who gives the members of an object, if no model fills them in. @param emptyCells as in `objectReader` */
function giverOf(stored: StoredFields, isTool: boolean, emptyCells: unknown): GivenBy {
	if (stored.mode === 'json') return isTool && isExpression(stored.json) ? 'model' : 'form';
	if (parseOption('Empty Cells', emptyCells, ['leave', 'clear']) === 'leave') return 'cellThatLeaves';
	return isTool ? 'model' : 'cellThatClears';
}

/** The fields of members that have the usual names of other systems. Members that they replace have none. */
type RenamedMembers = ReadonlyMap<string, Field | undefined>;

/** Finds these among all items, and tells the user. */
function renamedMembers(
	{ n8n, api, resource }: NodeRun,
	{ mode }: StoredFields,
	accepted: AcceptedFields,
	otherNames: string[],
): RenamedMembers {
	// The description of another service has other names.
	if (mode !== 'automatic' || !api.isSelfDescribed()) return new Map();
	const objects = n8n.getInputData().map(({ json }) => json);
	const names = new Set<string>();
	for (const object of objects) for (const name of Object.keys(object)) names.add(name);
	const assignable = { collection: resource.path, ...accepted };
	const usual = new UsualNames(assignable);
	if (![...names].some((name) => usual.fieldOf(name) !== usual.meaningsOf(name)[0])) return new Map();
	const columns = new Map<string, Column>();
	for (const [i, object] of objects.entries()) addToColumns(columns, i, object);
	const found = usual.fieldsOf([...columns.values()]);
	const left = [...columns.keys()].filter((name, i) => typeof usual.meaningsOf(name)[0] !== 'object' && isAmbiguousInItems(name, found[i]!));
	const assigned = assignColumns([...columns.values()], assignable, new Map([...otherNames, ...left].map((name) => [name, undefined])));
	const fields = new Map<string, Field | undefined>();
	for (const { name, meaning, isRenamed, nowhere } of assigned) {
		if (nowhere === 'replaced') fields.set(name, undefined);
		else if (isRenamed && typeof meaning === 'object') fields.set(name, meaning);
	}
	const texts = [...fields].flatMap(([name, field]) => (field ? [`“${name}” into “${field.label}”`] : []));
	if (texts.length > 0) api.notices.add(`By usual names in other systems: ${listed(texts, 10)}. To change that, map each field.`);
	return fields;
}

function renameToFields(object: IDataObject, renamed: RenamedMembers): IDataObject {
	if (renamed.size === 0) return object;
	const isKept = ([name]: [string, unknown]) => !renamed.has(name) || renamed.get(name) !== undefined;
	return Object.fromEntries(Object.entries(object).filter(isKept).map(([name, value]) => [renamed.get(name)?.name ?? name, value]));
}

/**
 * The members that belong to no field, as far as the user is told: a record that was read has values that only the service
 * sets, such as ids, times and counters.
 */
function unsentMembers(
	{ fields, recordFieldNames, recordFieldWords }: AcceptedFields,
	{ names, unknown, values }: { names: string[]; unknown: string[]; values: InputValue[] },
): UnsentValue[] {
	const isRecord = unknown.length > 0 && names.some((name) => wordsOf(name) === 'id');
	return unknown.flatMap((name): UnsentValue[] => {
		const isReadOnly = recordFieldNames.has(name);
		const namesake = isReadOnly ? fields.find((field) => field.name === customFieldPrefix + name) : undefined;
		if (namesake && !values.some(({ field }) => field === namesake)) return [{ reason: 'readOnly', name: namesake.name }];
		return isRecord && (isReadOnly || name === upsertOutcomeField || recordFieldWords.has(wordsOf(name))) ? [] : [{ reason: 'unknown', name }];
	});
}

interface ObjectFields {
	values: InputValue[];
	/** Names that belong to no field. */
	unknown: string[];
	/** Names of objects whose members are fields, but whose value is not an object. */
	notObjects: string[];
}

/**
 * Finds the fields for which an object has values: flat (`"address.city"`) or as members of an object
 * (`address: { city }`), which may be JSON text.
 *
 * @param blanks they decide whether a blank leaves its field as it is, as by default: then it yields to a value under another name
 * @throws Error in the user's words if two names with different values mean one field, or one name may mean several
 */
export function fieldsInObject(
	meaningsOf: MeaningsOf,
	object: IDataObject,
	blanks: { givenBy: GivenBy; whenCleared: WhenCleared } = { givenBy: 'cellThatLeaves', whenCleared: 'skip' },
): ObjectFields {
	const values = new Map<string, InputValue & { name: string }>();
	const unknown: string[] = [];
	const notObjects: string[] = [];
	const isSkipped = (field: Field, value: unknown) => decideValue({ field, value, givenBy: blanks.givenBy }, blanks.whenCleared).do === 'skip';
	for (const { name, value, meaning: field } of membersIn(meaningsOf, object, '')) {
		if (typeof field !== 'object') {
			(field === undefined ? unknown : notObjects).push(name);
			continue;
		}
		const pathKey = JSON.stringify(field.path);
		const other = values.get(pathKey);
		const isSame = other && JSON.stringify(other.value) === JSON.stringify(value);
		if (!other || isSame || isSkipped(field, other.value)) values.set(pathKey, { field, name, value });
		else if (!isSkipped(field, value)) {
			throw new FieldError(field, `“${other.name}” and “${name}” both map to this field, with different values. Remove or rename one of them.`);
		}
	}
	return { values: [...values.values()].map(({ field, value }) => ({ field, value })), unknown, notObjects };
}

/** A value and its field: no field if none has the name, or a name if it is that of an object whose members are fields. */
type Member = { name: string; value: unknown; meaning: Meaning | undefined };

/** The members of an object; those of an inner object, if they are fields, in place of it. */
function membersIn(meaningsOf: MeaningsOf, object: IDataObject, prefix: string): Member[] {
	const members: Member[] = [];
	for (const [key, value] of Object.entries(object)) {
		if (value === undefined) continue;
		const name = prefix + key;
		const meaning = meaningFor(meaningsOf, name, value, prefix !== '');
		const inner = typeof meaning === 'string' ? parsedValue(value) : undefined;
		if (typeof meaning !== 'string') members.push({ name, value, meaning });
		else if (isObject(inner)) for (const member of membersIn(meaningsOf, inner, `${meaning}.`)) members.push(member);
		// The object is cleared as a whole.
		else if (!Array.isArray(value) && isBlank(value)) members.push({ name: meaning, value, meaning: fieldNamed(meaning, { kind: 'json' }) });
		else members.push({ name: meaning, value, meaning });
	}
	return members;
}

function meaningFor(meaningsOf: MeaningsOf, name: string, value: unknown, isMember: boolean): Meaning | undefined {
	const all = meaningsOf(name, isMember);
	// A merely similar name requires that the shape of the value fits the field.
	const canHold = (meaning: Meaning) =>
		typeof meaning === 'string' || meaning.name === name || mayBeObjects(meaning) || !isPlainObject(value);
	const meanings = isObject(value) ? all.filter(canHold) : all;
	if (meanings.length < 2) return meanings[0];
	throw new Error(`“${name}” could mean any of the fields ${meanings.map(meaningText).join(', ')}. Rename it to the right one.`);
}
