import type { IDataObject } from 'n8n-workflow';

import { currentFields, readCustomFieldsIfAllowed } from '../api/customFields';
import type { Collection, Query } from '../api/http/path';
import { requireDescribed } from '../api/requireDescribed';
import { getOrCreate } from '../base/maps';
import { ownMember } from '../base/ownMembers';
import { allCustomFields, customKeyOf, labelFor, type Field } from '../fields/field';
import { isPhoneField, isTimeField, valueShape } from '../fields/fieldKinds';
import { allValuesIn, canonicalForm, listNameOf, looseText, valueIn } from '../fields/keys';
import { identifierForms } from '../lookUp/names';
import { readWholeList, type IdentifiedRecord } from '../lookUp/lookUp';
import { queriesOf, readFilters } from '../mapping/filters';
import { collectionPath } from '../mapping/locator';
import type { NodeRun, Operation } from '../model';
import { eachItem } from '../schedule';
import { isBlank, listIn } from '../values/blank';
import { normalizedName } from '../values/foldedText';
import { findProperties, sharedFields } from './duplicatesProperties';

export const findDuplicates: Operation = {
	option: { name: 'Find', value: 'find', action: 'Find duplicate %s', description: 'Find records that may be the same' },
	properties: () => findProperties,
	output: { type: 'object', properties: { ids: { type: 'array' }, why: { type: 'array' }, records: { type: 'array' } } },
	isOnceForAll: true,
	async prepare(run) {
		const { list } = await requireDescribed(run, 'list');
		const filters = await readFilters(run, 'filters', list, 'nobody');
		return eachItem(async (item) => await find(run, item, queriesOf(filters[item]!)));
	},
};

async function find(run: NodeRun, item: number, queries: Query[]): Promise<IDataObject[]> {
	const { api } = run;
	const { list, summary, fields: described } = await requireDescribed(run, 'list');
	const path = collectionPath(run, item);
	const rules = await readRules(run, item, path, described);
	const names = new Set(described.map(({ name }) => name));
	const compared = rules.flat().flatMap((field) => [field.path[0]!, listNameOf(field)]).filter((name) => names.has(name));
	const shown = new Set(['id', ...summary, ...compared, ...(list.created ? [list.created.field] : [])]);
	const records = new Map<string, IdentifiedRecord>();
	for (const filters of queries) {
		for (const record of await readWholeList({ api, path, list, fields: [...shown] }, filters)) records.set(record.id, record);
	}
	const groups = groupsOf(records, rules);
	const found = groups.length === 0 ? 'no two of them have a value in common in these fields' : `${groups.length} groups of duplicates found`;
	api.notices.add(`${records.size} records were compared, and ${found}.`);
	return groups.map(({ members, why }) => ({
		ids: members.map(({ id }) => id),
		why,
		records: members.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => shown.has(name)))),
	}));
}

/** The fields of each rule, which are compared together. @throws Error in the user's words */
async function readRules({ api, n8n }: NodeRun, item: number, path: Collection, described: Field[]): Promise<Field[][]> {
	const names = listIn(n8n.getNodeParameter(sharedFields.name, item)).map(String);
	if (names.length === 0) throw new Error('Same Field Names or IDs: choose at least one field that duplicates have in common.');
	const custom = names.some((name) => name.includes(allCustomFields)) ? currentFields(await readCustomFieldsIfAllowed(api, path)) : [];
	const comparableFields = [...described, ...custom].filter((field) => valueShape(field) === 'single');
	return names.map((name) => name.split('+').map((part) => {
		const field = comparableFields.find((candidate) => candidate.name === part.trim());
		if (field) return field;
		throw new Error(`Same Field Names or IDs: the CRM has no field ${part.trim()} with one value. Choose another one.`);
	}));
}

/** Groups the records that have a value in common, directly or through others. */
function groupsOf(records: Map<string, IdentifiedRecord>, rules: Field[][]) {
	const groups = new Map<string, { members: IdentifiedRecord[]; why: string[] }>();
	for (const rule of rules) {
		const byKey = new Map<string, IdentifiedRecord[]>();
		for (const record of records.values()) {
			for (const key of new Set(keysOf(record, rule))) getOrCreate(byKey, key, () => []).push(record);
		}
		const label = rule.map((field) => (field.label === field.name ? labelFor(field.name) : field.label)).join(' and ');
		for (const [key, [first, ...others]] of byKey) {
			if (!first || others.length === 0) continue;
			const group = getOrCreate(groups, first.id, () => ({ members: [first], why: [] }));
			for (const other of others) {
				const joined = groups.get(other.id) ?? { members: [other], why: [] };
				if (joined === group) continue;
				group.members.push(...joined.members);
				group.why.push(...joined.why);
				for (const { id } of joined.members) groups.set(id, group);
			}
			group.why.push(`${label}: ${(JSON.parse(key) as string[]).join(', ')}`);
		}
	}
	return [...new Set(groups.values())];
}

/** The values of a record by which a rule compares it, in the form in which they are the same. */
function keysOf(record: IdentifiedRecord, rule: Field[]): string[] {
	const [first, ...others] = rule.map((field) => {
		const values = rule.length === 1 ? allValuesIn(record, field) : [valueIn(record, field)];
		return values.filter((value) => !isBlank(value) && typeof value !== 'object').map((value) => comparable(field, value));
	});
	const rest = others.map(([value]) => value);
	return rest.includes(undefined) ? [] : first!.map((value) => JSON.stringify([value, ...rest]));
}

/** Where no pattern says it, only such a name does: a `phone_extension` is no phone number. */
const phoneName = /^(?:phone|mobile|fax)(?:_number)?$/;
/** A zero in parentheses is dialed only within the country, except in Italy and San Marino, where it is part of the number. */
const zeroWithin = /^([\s(]*(?:\+|00)(?!39|378)\d{1,3}[\s).-]*)\(0\)/;

function comparable(field: Field, value: unknown): string {
	const [name, text] = [customKeyOf(field.name) ?? field.name, String(isTimeField(field) ? value : canonicalForm(value, field, ''))];
	const hasPhones = isPhoneField(field) || (field.pattern === undefined && phoneName.test(name));
	return hasPhones ? looseText(text.replace(zeroWithin, '$1')) : (ownMember(identifierForms, name) ?? normalizedName)(text);
}
