import type { IDataObject } from 'n8n-workflow';

import { collectionName } from '../api/http/path';
import { recordName } from '../api/record';
import { occurrences } from '../base/maps';
import { labelFor } from '../fields/field';
import { ItemWithFiles, type Operation, type Resource } from '../model';
import { ifEmptyOption, recordAt, recordProperty } from '../parameters/recordParameters';
import { eachItem } from '../schedule';
import { hasOnlyBlanks } from '../values/blank';
import { noContact, readPersonData, type PersonData, type PersonRecord } from './personData';

/** @param types the record types that may concern a person */
export function exportPerson(types: Resource[]): Operation {
	return {
		option: { name: 'Export', value: 'export', action: 'Export data of a person', description: 'Collect all data' },
		properties: (resource) => [recordProperty(resource)],
		options: [ifEmptyOption],
		output: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' }, records: { type: 'object' }, events: { type: 'number' }, places: { type: 'number' } } },
		prepare: (run) => eachItem(async (item) => {
			const { id } = recordAt(run, item);
			const data = await readPersonData(run.api, types, id);
			if (!data) throw new Error(noContact(id));
			const { contact, records, events } = data;
			const { helpers } = run.n8n;
			const json = JSON.stringify(exportOf(data), undefined, '\t');
			const placeCount = records.reduce((sum, { places }) => sum + places.length, 0);
			const counts = { records: Object.fromEntries(occurrences(records.map(shortPath))), events: events.length, places: placeCount };
			return new ItemWithFiles({ id: contact.id, name: recordName(contact) ?? null, ...counts }, {
				data: await helpers.prepareBinaryData(Buffer.from(json), `${contact.id}.json`, 'application/json'),
				readable: await helpers.prepareBinaryData(Buffer.from(readableText(data)), `${contact.id}.md`, 'text/markdown'),
			});
		}),
	};
}

const shortPath = ({ path }: PersonRecord): string => collectionName(path);

const exportOf = ({ contact, identifiers, records, events }: PersonData): IDataObject => ({
	contact: contact.id,
	identifiers: identifiers.values,
	records: records.map((found): IDataObject => ({
		collection: shortPath(found), links_to_person: found.linksToPerson, is_linked: found.isLinked,
		places: found.places, record: found.record,
	})),
	events,
});

/** A Markdown text: a section for each record type, a list of values for each record, and the log. */
function readableText({ contact, identifiers, records, events }: PersonData): string {
	const lines = [`# ${recordName(contact) ?? contact.id}`, '', `Identifiers: ${identifiers.values.join(', ')}`];
	const types = new Map(records.map((found) => [shortPath(found), records.filter((other) => other.path === found.path)]));
	for (const [collection, found] of types) {
		lines.push('', `## ${labelFor(collection)}`);
		for (const { path, record, linksToPerson, isLinked, isDeleted, places } of found) {
			const why = [linksToPerson && 'links to the person', isLinked && `${path}/${record.id}` !== `/contacts/${contact.id}` && 'linked from the person', places.length > 0 && `names the person in ${places.map(({ field }) => field).join(', ')}`, isDeleted && 'deleted'];
			lines.push('', `### ${recordName(record) ?? record.id}`, '', why.filter(Boolean).join('; '), '');
			for (const [name, value] of Object.entries(record)) if (!hasOnlyBlanks(value)) lines.push(`- ${labelFor(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
		}
	}
	lines.push('', '## Who Changed What', '');
	for (const { at, type, by, id, changes } of events) lines.push(`- ${at} ${type} ${id} by ${String(by.type ?? 'unknown')} ${String(by.id ?? '')}: ${JSON.stringify(changes)}`);
	return `${lines.join('\n')}\n`;
}
