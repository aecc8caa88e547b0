import type { IDataObject } from 'n8n-workflow';

import type { CrmEvent } from '../api/crmEvent';
import { ownMember } from '../api/http/ownMembers';
import type { EventMeaning } from './eventMeaning';

/** The value of a changed field, by the name that events give it: `custom_fields.<key>` for a custom field. */
export function valueByName(record: IDataObject, field: string): unknown {
	const custom = /^custom_fields\.(.+)$/s.exec(field)?.[1];
	if (custom === undefined) return ownMember(record, field);
	const values = ownMember(record, 'custom_fields');
	return typeof values === 'object' && values !== null ? ownMember(values as IDataObject, custom) : undefined;
}

/** Which of the created records others have linked to since, so that to delete them would take the links away. */
export class LinksOfOthers {
	private readonly created = new Set<string>();
	/** By the record with the link, and its field. */
	private readonly found = new Map<string, Map<string, string[]>>();

	/** @param id of a record that is to be deleted */
	watch(id: string): void {
		this.created.add(id);
	}

	/** @param record identifies the record of the event */
	add(record: string, { data: { object, changed } }: CrmEvent, { change }: EventMeaning, isOwn: boolean): void {
		if (this.created.size === 0 || change === undefined) return;
		if (change === 'deleted') return void this.found.delete(record);
		for (const name of change === 'created' ? Object.keys(object) : changed) {
			const ids = isOwn || name === 'id' ? [] : this.amongCreated(valueByName(object, name));
			const links = this.found.get(record) ?? new Map<string, string[]>();
			if (ids.length > 0) this.found.set(record, links.set(name, ids));
			else links.delete(name);
		}
	}

	/** The created records that a value names. */
	amongCreated(value: unknown): string[] {
		if (typeof value === 'string') return this.created.has(value) ? [value] : [];
		if (typeof value !== 'object' || value === null) return [];
		return Object.values(value).flatMap((one) => this.amongCreated(one));
	}

	/** The created records that others link to. */
	linked(): Set<string> {
		return new Set([...this.found.values()].flatMap((links) => [...links.values()].flat()));
	}
}
