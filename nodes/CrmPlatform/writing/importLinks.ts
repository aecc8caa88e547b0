import type { IDataObject } from 'n8n-workflow';

import { withReplacedIds } from '../api/openapi/linkFields';
import { getOrCreate } from '../base/maps';
import { idField, type Field } from '../fields/field';
import { valueIn } from '../fields/keys';
import { lookUp } from '../lookUp/lookUp';
import type { Execution } from '../model';

/** Finds links of rows that lead nowhere, since no record has the ID. */
export class LinkedRecordCheck {
	private readonly execution: Execution;
	private readonly fields: Field[];
	/** By collection: the IDs that were looked up, and whether a record has them; undefined if it is unknown. */
	private readonly outcomes = new Map<string, Map<string, boolean | undefined>>();
	private readonly toRead = new Map<string, Set<string>>();

	/** @param fields of the rows; parts of records, such as stages, are found by name and not checked */
	constructor(execution: Execution, fields: Field[]) {
		this.execution = execution;
		this.fields = fields.filter(({ collection = '', part }) => collection !== '' && part === undefined);
	}

	/** Notes the IDs of a row that have not been looked up. */
	add(line: IDataObject): void {
		for (const { collection, id } of this.linksOf(line)) {
			if (!this.outcomes.get(collection)?.has(id)) getOrCreate(this.toRead, collection, () => new Set<string>()).add(id);
		}
	}

	/** Looks up the noted IDs, a hundred a request. */
	async read(): Promise<void> {
		const { api } = this.execution;
		for (const [collection, ids] of this.toRead) {
			const outcomesOfIds = getOrCreate(this.outcomes, collection, () => new Map<string, boolean | undefined>());
			const list = (await api.describe(`/${collection}`))?.list;
			const target = list && { api, path: `/v1/${collection}`, list, filters: list.filters, fields: [] };
			const outcomeOf = target && (await lookUp(target, idField, [...ids]).catch(() => undefined));
			for (const id of ids) {
				const outcome = outcomeOf?.(id);
				outcomesOfIds.set(id, !outcome || 'failed' in outcome ? undefined : 'found' in outcome || 'several' in outcome);
			}
		}
		this.toRead.clear();
	}

	problemsOf(line: IDataObject): Array<{ field: string; message: string }> {
		return this.linksOf(line)
			.filter(({ collection, id }) => this.outcomes.get(collection)?.get(id) === false)
			.map(({ field, collection, id }) => ({ field: field.name, message: `${field.label}: no record of ${collection} has the ID “${id}”.` }));
	}

	private linksOf(line: IDataObject): Array<{ field: Field; collection: string; id: string }> {
		return this.fields.flatMap((field) => {
			const found: Array<{ field: Field; collection: string; id: string }> = [];
			withReplacedIds(field, valueIn(line, field), (collection, id) => {
				if (typeof id === 'string' || typeof id === 'number') found.push({ field, collection, id: String(id) });
				return id;
			});
			return found;
		});
	}
}
